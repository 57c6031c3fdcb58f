import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs the mains of Kafka's command-line tools one after the other in one JVM, because starting one for each would
 * cost more than the tools do. The stories tell it what to run, a line each: the class, what the tool reads on standard
 * input, and its arguments, all quoted as in a URL. It answers with the exit code and what was printed.
 *
 * <p>A tool must not notice: where it would exit it is stopped by an error instead, and what it wants done at the end of
 * the process is done when its main has returned.
 */
public final class Tools {
    /** Thrown where a tool would end the process. */
    private static final class Exited extends Error {
        private static final long serialVersionUID = 1;
        private final int code;

        private Exited(int code) {
            super("exit " + code, null, false, false);
            this.code = code;
        }
    }

    private static final List<Runnable> atExit = new CopyOnWriteArrayList<>();
    private static volatile Exited firstExit;

    private Tools() {}

    public static void main(String[] arguments) throws Exception {
        Exit.Procedure exit = (code, message) -> {
            Exited exited = new Exited(code);
            // A tool that catches everything would exit a second time, with another code.
            if (firstExit == null) {
                firstExit = exited;
                if (message != null) System.err.println(message);
                System.err.flush();
                // Some tools report the error that stops them: that would not have been printed.
                System.setErr(new PrintStream(OutputStream.nullOutputStream()));
            }
            throw firstExit;
        };
        Exit.setExitProcedure(exit);
        Exit.setHaltProcedure(exit);
        Exit.setShutdownHookAdder((name, hook) -> atExit.add(hook));
        PrintStream answers = System.out;
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            List<String> words = new ArrayList<>();
            for (String word : order.split(" ", -1)) words.add(URLDecoder.decode(word, "UTF-8"));
            answers.println(run(words.get(0), words.get(1), words.subList(2, words.size()).toArray(new String[0])));
            answers.flush();
        }
    }

    private static String run(String tool, String input, String[] arguments) throws Exception {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        System.setIn(new ByteArrayInputStream(input.getBytes("UTF-8")));
        System.setOut(new PrintStream(printed, true, "UTF-8"));
        System.setErr(new PrintStream(complained, true, "UTF-8"));
        firstExit = null;
        int code;
        try {
            code = runMain(tool, arguments);
        } finally {
            System.out.flush();
            System.err.flush();
            System.setOut(out);
            System.setErr(err);
        }
        return code + " " + quote(printed) + " " + quote(complained);
    }

    private static int runMain(String tool, String[] arguments) throws Exception {
        int code = 0;
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException error) {
            if (!(error.getCause() instanceof Exited)) {
                error.getCause().printStackTrace();
                code = 1;
            }
        }
        for (Runnable hook : atExit) hook.run();
        atExit.clear();
        return firstExit == null ? code : firstExit.code;
    }

    private static String quote(ByteArrayOutputStream text) throws Exception {
        // A leading mark, so that nothing printed is still a word.
        return "=" + URLEncoder.encode(text.toString("UTF-8"), "UTF-8");
    }
}
