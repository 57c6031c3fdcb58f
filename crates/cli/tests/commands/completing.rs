//! `milepost completion` and `milepost man`: what a shell is told, and the pages.

use std::process::Command;

use crate::support::{PROGRAM, Ran, Server, run_alone};

/// A server with two groups and two topics.
fn server() -> Server {
    let server = Server::start();
    for topic in ["orders", "payments"] {
        server.run(&["topic", "create", topic]).ok();
    }
    for group in ["billing", "team:books"] {
        server.run(&["group", "create", group, "0", "--topic", "orders", "--yes"]).ok();
    }
    server
}

/// What bash offers for the last of these words, with the words as bash takes them apart.
fn bash(server: &Server, words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    // Bash leaves the quote out that is still open.
    let completed = quoted.last().unwrap().replacen("'\"", "'", 1).replacen("''\\''", "'", 1);
    let folder = std::path::Path::new(PROGRAM).parent().unwrap();
    // As bash itself does at the key: the words in an array, and the last of them as the second argument too.
    let script = format!(
        "PATH={}:$PATH; source <(milepost completion bash); COMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE=9; \
         _clap_complete_milepost milepost {} ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        folder.display(),
        quoted.join(" "),
        words.len() - 1,
        completed,
    );
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", &script]).env("MILEPOST_BOOTSTRAP", &server.bootstrap);
    command.env("XDG_CONFIG_HOME", server.folder.path());
    command.env("MILEPOST_SNAPSHOTS", server.folder.path().join("snapshots"));
    let ran = Ran::of(&command.output().unwrap());
    assert_eq!(ran.stderr, "", "{words:?}");
    ran.lines().into_iter().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn bash_is_told_names_of_groups_and_topics() {
    let server = server();
    let config = server.folder.path().join("milepost");
    std::fs::create_dir(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[profiles.prod]\nbootstrap.servers = \"nowhere:1\"\n")
        .unwrap();
    server.run(&["group", "snapshot", "create", "--name", "before", "billing"]).ok();

    let cases: [(&[&str], &[&str]); 10] = [
        (&["milepost", "gro"], &["group"]),
        (&["milepost", "group", "describe", "b"], &["billing"]),
        (&["milepost", "group", "describe", "billing", "t"], &["team:books"]),
        (&["milepost", "group", "reset", "billing", "lat"], &["latest"]),
        (&["milepost", "group", "reset", "billing", "group", ":", "b"], &["billing"]),
        // Bash replaces only what stands behind the colon.
        (&["milepost", "group", "describe", "team", ":", "b"], &["books"]),
        (&["milepost", "group", "describe", "--topic", "o"], &["orders"]),
        (&["milepost", "consume", "pa"], &["payments"]),
        (&["milepost", "group", "snapshot", "show", "be"], &["before"]),
        (&["milepost", "group", "list", "--profile", "p"], &["prod"]),
    ];
    for (words, offered) in cases {
        assert_eq!(bash(&server, words), offered, "{words:?}");
    }
    assert_eq!(bash(&server, &["milepost", "topic", "describe", "__c"]), ["__consumer_offsets"]);
}

#[test]
fn bash_is_told_names_as_they_have_to_be_typed() {
    let server = server();
    let groups = ["blank group", "$(touch stolen)", "it's", "line\nline", "team:blank books"];
    for group in groups {
        server.run(&["group", "create", "--topic", "orders", "--yes", "--", group, "0"]).ok();
    }
    let cases: [(&str, &str); 8] = [
        ("bla", "blank\\ group"),
        ("blank\\ g", "blank\\ group"),
        ("'bla", "blank group"),
        ("\"bla", "blank group"),
        ("\\$", "\\$\\(touch\\ stolen\\)"),
        ("\"\\$", "\\$(touch stolen)"),
        ("i", "it\\'s"),
        // Nothing in quotes is taken apart.
        ("\"team:bl", "team:blank books"),
    ];
    for (word, offered) in cases {
        assert_eq!(bash(&server, &["milepost", "group", "describe", word]), [offered], "{word}");
    }
    assert_eq!(bash(&server, &["milepost", "group", "describe", "line"]), [""]);
    let words = ["milepost", "group", "describe", "-b", &format!("\"{}\"", server.bootstrap), "bi"];
    assert_eq!(bash(&server, &words), ["billing"]);
}

#[test]
fn the_cluster_that_the_line_names_is_asked_and_a_dead_one_offers_nothing() {
    let (server, other) = (server(), Server::start());
    other.run(&["topic", "create", "parcels"]).ok();
    let (host, port) = other.bootstrap.split_once(':').unwrap();
    let words = ["milepost", "topic", "describe", "-b", host, ":", port, "pa"];
    assert_eq!(bash(&server, &words), ["parcels"]);
    let words = ["milepost", "topic", "describe", "-b", "127.0.0.1", ":", "1", "pa"];
    assert_eq!(bash(&server, &words), [""]);
}

#[test]
fn every_shell_has_its_script_and_is_answered() {
    let server = server();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run_alone(&["completion", shell], server.folder.path()).ok();
        assert!(script.contains("_MILEPOST_COMPLETE"), "{shell}: {script}");
    }
    for shell in ["zsh", "fish"] {
        let mut command = Command::new(PROGRAM);
        command.args(["--", "milepost", "group", "describe", "bil"]);
        command.env("_MILEPOST_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "3");
        command.env("MILEPOST_BOOTSTRAP", &server.bootstrap);
        let offered = Ran::of(&command.output().unwrap()).ok();
        assert_eq!(offered.trim_end(), "billing", "{shell}");
    }
    let ran = run_alone(&["completion", "tcsh"], server.folder.path());
    assert_eq!((ran.code, ran.stderr.contains("possible values: bash")), (2, true), "{ran:?}");
}

#[test]
fn every_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = run_alone(&["man", "group", "reset"], folder.path()).ok();
    assert!(page.contains(".TH milepost-group-reset 1") && page.contains(r"\-\-keep\-metadata"), "{page}");
    let page = run_alone(&["man"], folder.path()).ok();
    assert!(page.contains(".TH milepost 1") && page.contains(r"milepost\-group(1)"), "{page}");
    run_alone(&["man", "--folder", "pages/man1"], folder.path()).ok();
    for page in ["milepost.1", "milepost-group-snapshot-restore.1", "milepost-offsets-dump.1"] {
        assert!(folder.path().join("pages/man1").join(page).is_file(), "{page}");
    }
    let ran = run_alone(&["man", "group", "lose"], folder.path());
    assert_eq!((ran.code, ran.stderr.as_str()), (2, "milepost: there is no command group lose\n"));
}
