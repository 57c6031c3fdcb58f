// A member that is the Java client. It understands the same words as the Python programs in ../clients (see puppet.py).

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.internals.AppInfoParser;

public final class Member {
    private static final Duration POLL = Duration.ofMillis(100);

    private final Properties base = new Properties();
    private final Set<Integer> revoked = new TreeSet<>();
    private final Properties ofTransactions = new Properties();
    private KafkaConsumer<String, String> consumer;
    private KafkaProducer<String, String> transactions;

    private Member(String bootstrap, String group, Map<String, String> settings) {
        base.put("bootstrap.servers", bootstrap);
        for (String name : List.of("transactional.id", "transaction.timeout.ms")) {
            if (settings.containsKey(name)) {
                ofTransactions.put(name, settings.remove(name));
            }
        }
        if (group != null) {
            Properties properties = new Properties();
            properties.putAll(base);
            properties.put("group.id", group);
            properties.put("key.deserializer", StringDeserializer.class.getName());
            properties.put("value.deserializer", StringDeserializer.class.getName());
            properties.putAll(settings);
            if ("cooperative-sticky".equals(settings.get("partition.assignment.strategy"))) {
                properties.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
            }
            consumer = new KafkaConsumer<>(properties);
        }
    }

    private Map<String, String> obey(String verb, Map<String, String> with) throws Exception {
        switch (verb) {
            case "version":
                return Map.of("version", AppInfoParser.getVersion());
            case "subscribe":
                consumer.subscribe(List.of(with.get("topic")), noteRevoked());
                return Map.of();
            case "rebalances":
                Map<String, String> taken = Map.of("revoked", joined(revoked));
                revoked.clear();
                return taken;
            case "subscribe-pattern":
                consumer.subscribe(new SubscriptionPattern(with.get("pattern")));
                return Map.of();
            case "poll":
                return poll(Integer.parseInt(with.get("records")), Double.parseDouble(with.get("seconds")));
            case "settle":
                return settle(Double.parseDouble(with.get("seconds")));
            case "commit":
                commit(with.get("mode"), with.get("metadata"), with.get("epoch"));
                return Map.of();
            case "committed":
                return committed(partitions(with));
            case "close":
                if (consumer != null) {
                    consumer.close();
                }
                if (transactions != null) {
                    transactions.close(Duration.ofSeconds(5));
                }
                return Map.of();
            case "produce":
                return produce(with);
            case "begin":
                begin();
                return Map.of();
            case "send":
                return send(with);
            case "send-offsets":
                sendOffsets(positions());
                return Map.of();
            case "end":
                end(with.get("mode"));
                return Map.of();
            case "transform":
                return transform(with.get("topic"), Double.parseDouble(with.get("seconds")));
            default:
                try (Admin admin = Admin.create(base)) {
                    return administer(admin, verb, with);
                }
        }
    }

    private Map<String, String> poll(int wanted, double seconds) {
        List<String> records = new ArrayList<>();
        long deadline = System.nanoTime() + (long) (seconds * 1e9);
        while (records.size() < wanted && System.nanoTime() < deadline) {
            for (ConsumerRecord<String, String> one : consumer.poll(POLL)) {
                records.add(one.partition() + ":" + one.offset() + ":" + one.value());
            }
        }
        return Map.of("records", String.join(",", records));
    }

    private Map<String, String> settle(double seconds) {
        long deadline = System.nanoTime() + (long) (seconds * 1e9);
        while (System.nanoTime() < deadline) {
            pollNothing();
        }
        Set<Integer> numbers = new TreeSet<>();
        consumer.assignment().forEach(one -> numbers.add(one.partition()));
        return Map.of("partitions", joined(numbers));
    }

    private static String joined(Set<Integer> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private ConsumerRebalanceListener noteRevoked() {
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                partitions.forEach(one -> revoked.add(one.partition()));
            }

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}
        };
    }

    /** Lets the client work; a record that comes meanwhile would be lost to the story. */
    private void pollNothing() {
        for (ConsumerRecord<String, String> one : consumer.poll(POLL)) {
            throw new IllegalStateException("unexpected record " + one.partition() + ":" + one.offset());
        }
    }

    private void commit(String mode, String metadata, String epoch) throws Exception {
        Optional<Integer> leaderEpoch = Optional.ofNullable(epoch).map(Integer::valueOf);
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (TopicPartition one : consumer.assignment()) {
            positions.put(one, new OffsetAndMetadata(consumer.position(one), leaderEpoch, metadata));
        }
        if (mode.equals("sync")) {
            consumer.commitSync(positions, Duration.ofSeconds(20));
            return;
        }
        Exception[] failure = new Exception[1];
        boolean[] done = new boolean[1];
        consumer.commitAsync(positions, (offsets, exception) -> {
            failure[0] = exception;
            done[0] = true;
        });
        while (!done[0]) {
            pollNothing();
        }
        if (failure[0] != null) {
            throw failure[0];
        }
    }

    private Map<String, String> committed(List<TopicPartition> partitions) {
        return offsets(partitions, consumer.committed(Set.copyOf(partitions), Duration.ofSeconds(20)));
    }

    private Map<String, String> produce(Map<String, String> with) throws Exception {
        Properties properties = new Properties();
        properties.putAll(base);
        properties.put("key.serializer", StringSerializer.class.getName());
        properties.put("value.serializer", StringSerializer.class.getName());
        properties.put("acks", "all");
        properties.put("linger.ms", "5");
        properties.put("compression.type", with.get("compression"));
        int first = Integer.parseInt(with.get("first"));
        int count = Integer.parseInt(with.get("count"));
        int partition = Integer.parseInt(with.get("partition"));
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        List<String> offsets = new ArrayList<>();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties)) {
            for (int number = first; number < first + count; number++) {
                sent.add(producer.send(new ProducerRecord<>(with.get("topic"), partition, null, "value-" + number)));
            }
            for (Future<RecordMetadata> one : sent) {
                offsets.add(String.valueOf(one.get(30, TimeUnit.SECONDS).offset()));
            }
        }
        return Map.of("offsets", String.join(",", offsets));
    }

    // --- Transactions ---

    private void begin() {
        if (transactions == null) {
            startAnew();
        }
        transactions.beginTransaction();
    }

    /** Makes the producer; it ends whatever the one before left open, as soon as the server can be reached. */
    private void startAnew() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        closeTransactions();
        Properties properties = new Properties();
        properties.putAll(base);
        properties.putAll(ofTransactions);
        properties.put("key.serializer", StringSerializer.class.getName());
        properties.put("value.serializer", StringSerializer.class.getName());
        properties.put("linger.ms", "5");
        properties.put("max.block.ms", "10000");
        while (transactions == null) {
            KafkaProducer<String, String> producer = new KafkaProducer<>(properties);
            try {
                producer.initTransactions();
                transactions = producer;
            } catch (KafkaException error) {
                producer.close(Duration.ZERO);
                if (System.nanoTime() > deadline) {
                    throw error;
                }
                error.printStackTrace();
            }
        }
    }

    private void closeTransactions() {
        if (transactions != null) {
            transactions.close(Duration.ZERO);
            transactions = null;
        }
    }

    private Map<String, String> send(Map<String, String> with) throws Exception {
        int first = Integer.parseInt(with.get("first"));
        int count = Integer.parseInt(with.get("count"));
        List<String> values = new ArrayList<>();
        for (int number = first; number < first + count; number++) {
            values.add("value-" + number);
        }
        return Map.of("offsets", send(with.get("topic"), Integer.parseInt(with.get("partition")), values));
    }

    private String send(String topic, int partition, List<String> values) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (String value : values) {
            sent.add(transactions.send(new ProducerRecord<>(topic, partition, null, value)));
        }
        List<String> offsets = new ArrayList<>();
        for (Future<RecordMetadata> one : sent) {
            offsets.add(String.valueOf(one.get(30, TimeUnit.SECONDS).offset()));
        }
        return String.join(",", offsets);
    }

    private Map<TopicPartition, OffsetAndMetadata> positions() {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (TopicPartition one : consumer.assignment()) {
            positions.put(one, new OffsetAndMetadata(consumer.position(one)));
        }
        return positions;
    }

    private void sendOffsets(Map<TopicPartition, OffsetAndMetadata> positions) {
        transactions.sendOffsetsToTransaction(positions, consumer.groupMetadata());
    }

    private void end(String mode) {
        if (mode.equals("commit")) {
            transactions.commitTransaction();
        } else {
            transactions.abortTransaction();
        }
    }

    /** Reads, writes what it read elsewhere, and commits both together; after an error it goes back and on. */
    private Map<String, String> transform(String topic, double seconds) {
        int done = 0;
        long deadline = System.nanoTime() + (long) (seconds * 1e9);
        while (System.nanoTime() < deadline) {
            List<String> values = new ArrayList<>();
            Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
            for (ConsumerRecord<String, String> one : consumer.poll(POLL)) {
                values.add(one.value());
                ends.put(new TopicPartition(one.topic(), one.partition()), new OffsetAndMetadata(one.offset() + 1));
            }
            if (values.isEmpty()) {
                continue;
            }
            try {
                begin();
                send(topic, 0, values);
                sendOffsets(ends);
                end("commit");
                done += values.size();
            } catch (Exception error) {
                error.printStackTrace();
                startAnew();
                goBack();
            }
        }
        return Map.of("records", String.valueOf(done));
    }

    /** To what is committed: whether the last transaction was, its coordinator knows by now. */
    private void goBack() {
        Map<TopicPartition, OffsetAndMetadata> known =
            consumer.committed(consumer.assignment(), Duration.ofSeconds(60));
        for (TopicPartition one : consumer.assignment()) {
            if (known.get(one) == null) {
                consumer.seekToBeginning(List.of(one));
            } else {
                consumer.seek(one, known.get(one));
            }
        }
    }

    private Map<String, String> administer(Admin admin, String verb, Map<String, String> with) throws Exception {
        String group = with.get("group");
        String topic = with.get("topic");
        switch (verb) {
            case "create-topic":
                NewTopic wanted = new NewTopic(topic, Integer.parseInt(with.get("partitions")), (short) 1);
                admin.createTopics(List.of(wanted)).all().get();
                return Map.of();
            case "describe-topic":
                var topics = admin.describeTopics(List.of(topic)).allTopicNames().get();
                return Map.of("partitions", String.valueOf(topics.get(topic).partitions().size()));
            case "delete-topic":
                admin.deleteTopics(List.of(topic)).all().get();
                return Map.of();
            case "list-groups":
                List<String> groups = new ArrayList<>();
                for (GroupListing one : admin.listGroups().all().get()) {
                    groups.add(one.groupId());
                }
                return Map.of("groups", String.join(",", groups));
            case "describe-group":
                var described = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
                String members = String.valueOf(described.members().size());
                return Map.of("state", described.groupState().toString(), "members", members);
            case "delete-group":
                admin.deleteConsumerGroups(List.of(group)).all().get();
                return Map.of();
            case "delete-offsets":
                admin.deleteConsumerGroupOffsets(group, Set.copyOf(partitions(with))).all().get();
                return Map.of();
            case "list-offsets":
                var spec = new ListConsumerGroupOffsetsSpec().topicPartitions(partitions(with));
                var found = admin.listConsumerGroupOffsets(Map.of(group, spec)).partitionsToOffsetAndMetadata(group);
                return offsets(partitions(with), found.get());
            case "alter-offset":
                TopicPartition target = new TopicPartition(topic, Integer.parseInt(with.get("partition")));
                OffsetAndMetadata offset = new OffsetAndMetadata(Long.parseLong(with.get("offset")));
                admin.alterConsumerGroupOffsets(group, Map.of(target, offset)).all().get();
                return Map.of();
            default:
                throw new IllegalArgumentException("no such word: " + verb);
        }
    }

    private static List<TopicPartition> partitions(Map<String, String> with) {
        return Arrays.stream(with.get("partitions").split(","))
            .map(number -> new TopicPartition(with.get("topic"), Integer.parseInt(number)))
            .collect(Collectors.toList());
    }

    private static Map<String, String> offsets(
            List<TopicPartition> asked, Map<TopicPartition, OffsetAndMetadata> found) {
        List<String> entries = new ArrayList<>();
        for (TopicPartition one : asked) {
            OffsetAndMetadata offset = found.get(one);
            String metadata = offset == null ? "" : encode(offset.metadata());
            entries.add(one.partition() + ":" + (offset == null ? "none" : offset.offset()) + ":" + metadata);
        }
        return Map.of("offsets", String.join(",", entries));
    }

    private static String encode(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static Map<String, String> error(Throwable thrown) {
        Throwable error = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
        error.printStackTrace();
        int code = error instanceof ApiException ? Errors.forException(error).code() : -1;
        Map<String, String> values = new TreeMap<>();
        values.put("name", error.getClass().getSimpleName());
        values.put("code", code > 0 ? String.valueOf(code) : "");
        values.put("text", String.valueOf(error.getMessage()));
        return values;
    }

    private static void say(String kind, Map<String, String> values) {
        StringBuilder line = new StringBuilder(kind);
        values.forEach((key, value) -> line.append(' ').append(key).append('=').append(encode(value)));
        System.out.println(line);
        System.out.flush();
    }

    private static Map<String, String> pairs(List<String> words) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String word : words) {
            int at = word.indexOf('=');
            values.put(word.substring(0, at), URLDecoder.decode(word.substring(at + 1), StandardCharsets.UTF_8));
        }
        return values;
    }

    public static void main(String[] arguments) throws Exception {
        String bootstrap = null;
        String group = null;
        Map<String, String> settings = new LinkedHashMap<>();
        for (int at = 0; at + 1 < arguments.length; at += 2) {
            switch (arguments[at]) {
                case "--bootstrap" -> bootstrap = arguments[at + 1];
                case "--group" -> group = arguments[at + 1];
                case "--set" -> settings.putAll(pairs(List.of(arguments[at + 1])));
                default -> throw new IllegalArgumentException(arguments[at]);
            }
        }
        Member member = new Member(bootstrap, group, settings);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            List<String> words = List.of(line.split(" "));
            String verb = words.get(0);
            try {
                say("ok", member.obey(verb, pairs(words.subList(1, words.size()))));
                if (verb.equals("close")) {
                    return;
                }
            } catch (Exception | LinkageError thrown) {
                say("error", error(thrown));
            }
        }
    }
}
