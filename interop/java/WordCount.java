// A word count of Kafka Streams: what its users write, with nothing of the story in it but where it reads and writes.

import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Counts the words of one topic into another until it is asked to end: {@code WordCount INPUT OUTPUT KEY=VALUE…}, the
 * settings named as Streams names them. It says {@code running} once it has its share of the work; an error that stops
 * it is printed and makes it exit with 1.
 */
public final class WordCount {
    private WordCount() {}

    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        for (String setting : List.of(arguments).subList(2, arguments.length)) {
            String[] both = setting.split("=", 2);
            settings.put(both[0], both[1]);
        }
        CountDownLatch ended = new CountDownLatch(1);
        Throwable[] failure = new Throwable[1];
        KafkaStreams streams = new KafkaStreams(topology(arguments[0], arguments[1]), settings);
        streams.setUncaughtExceptionHandler(error -> {
            failure[0] = error;
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) System.out.println("running");
            if (now.hasCompletedShutdown()) ended.countDown();
        });
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
        ended.await();
        for (Throwable error = failure[0]; error != null; error = error.getCause()) System.out.println("failed " + error);
        Runtime.getRuntime().halt(failure[0] == null ? 0 : 1);
    }

    private static Topology topology(String input, String output) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> lines = builder.stream(input, Consumed.with(Serdes.String(), Serdes.String()));
        lines.flatMapValues(line -> List.of(line.toLowerCase(Locale.ROOT).split(" ")))
                .groupBy((key, word) -> word, Grouped.with("words", Serdes.String(), Serdes.String()))
                .count(Materialized.as("counts"))
                .mapValues(String::valueOf)
                .toStream()
                .to(output, Produced.with(Serdes.String(), Serdes.String()));
        return builder.build();
    }
}
