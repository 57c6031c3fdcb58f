//! How a command finds its cluster: profiles, properties files; and what its output looks like.

use crate::groups::{commit, server};
use crate::support::run_alone;

#[test]
fn a_profile_or_a_properties_file_says_where_the_cluster_is() {
    let server = server();
    let folder = server.folder.path();
    let config = format!(
        "[profiles.here]\nbootstrap.servers = \"{}\"\n[profiles.mistyped]\nbootsrap.servers = \"x:1\"\n",
        server.bootstrap
    );
    std::fs::create_dir(folder.join("milepost")).unwrap();
    std::fs::write(folder.join("milepost/config.toml"), config).unwrap();
    let properties = folder.join("client.properties");
    std::fs::write(&properties, format!("bootstrap.servers={}\nacks=all\n", server.bootstrap)).unwrap();
    let properties = properties.to_str().unwrap();
    for flags in [["--profile", "here"], ["--client-config", properties]] {
        let arguments = [["topic", "list"].as_slice(), &flags].concat();
        assert_eq!(server.run(&arguments).lines()[1], "t      2");
    }
    let ran = server.run(&["topic", "list", "--profile", "there"]);
    assert!(ran.code == 2 && ran.stderr.contains("it has: here"), "{ran:?}");
    // The cluster of the environment is not the one that was meant.
    let ran = server.run(&["topic", "list", "--profile", "mistyped"]);
    assert!(ran.code == 2 && ran.stderr.contains("says no bootstrap.servers"), "{ran:?}");
    // Not the environment, and not another file.
    let ran = run_alone(&["topic", "list", "--client-config", properties], folder);
    assert_eq!(ran.lines()[1], "t      2");
}

#[test]
fn one_answer_has_many_forms() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, "")]);
    let run = |flags: &[&str]| server.run(&[&["group", "list", "--lag"], flags].concat()).ok();
    assert_eq!(
        run(&["--format", "csv"]),
        format!(
            "GROUP,TYPE,STATE,PROTOCOL,COORDINATOR,PARTITIONS,LAG,NEVER,BEYOND-END,UNKNOWN,STABLE-LAG\n\
             g,classic,Empty,-,{},1,6,0,0,0,6\n",
            server.bootstrap
        )
    );
    assert!(
        run(&["--format", "yaml"]).contains("\n  group: g\n")
            || run(&["--format", "yaml"]).contains("- coordinator:")
    );
    assert_eq!(run(&["--columns", "lag,group"]), "LAG  GROUP\n6    g\n");
    let ran = server.run(&["group", "list", "--columns", "nothing"]);
    assert!(ran.code == 2 && ran.stderr.contains("but GROUP, TYPE"), "{ran:?}");
}

#[test]
fn whoever_stops_reading_is_no_error() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, "")]);
    let ran = server.spawn(&["group", "describe", "g", "--format", "json"]).abandon();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
}
