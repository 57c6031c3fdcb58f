// A member that is Confluent's JavaScript client: librdkafka behind the interface of KafkaJS.

import confluent from '@confluentinc/kafka-javascript'
import { tapOf } from './batches.js'
import {
  appendedAt,
  commit,
  known,
  numbers,
  offsetsAnswer,
  programArguments,
  run,
  typed,
  values,
  versionOf
} from './puppet.js'

const { Kafka, ErrorCodes, ConsumerGroupStates } = confluent.KafkaJS
const TOPIC_ALREADY_EXISTS = 36

// Names that librdkafka has other words or no word for.
const ONLY_ELSEWHERE = ['max.poll.records']

// The client answers `false` where others raise an error.
class TopicAlreadyExists extends Error {
  name = 'TopicAlreadyExists'
  code = TOPIC_ALREADY_EXISTS
}

class Member {
  #client
  #group
  #consumer
  #tap
  #subscribe
  #topic
  #revoked = []

  constructor({ bootstrap, group, settings }) {
    this.#client = new Kafka({ 'bootstrap.servers': bootstrap })
    this.#group = group
    if (group === undefined) return
    const given = [...settings]
      .filter(([key]) => !ONLY_ELSEWHERE.includes(key))
      .map(([key, value]) => [key, typed(value)])
    const config = { ...Object.fromEntries(given), 'group.id': group }
    config.rebalance_cb = (event, partitions) => {
      if (event.code === ErrorCodes.ERR__REVOKE_PARTITIONS) {
        this.#revoked.push(...partitions.map(one => one.partition))
      } else {
        // A partition that was paused when it was lost comes back paused; after this call it is assigned.
        setImmediate(() => this.#tap.reopen())
      }
    }
    this.#consumer = this.#client.consumer(config)
    const tapped = tapOf(this.#consumer)
    this.#tap = tapped.tap
    this.#subscribe = tapped.subscribe
  }

  version() {
    return versionOf('@confluentinc/kafka-javascript')
  }

  rebalances() {
    const revoked = this.#revoked.sort((one, other) => one - other).join(',')
    this.#revoked = []
    return { revoked }
  }

  async subscribe({ topic }) {
    this.#topic = topic
    await this.#subscribe(topic, {})
  }

  poll(asked) {
    return this.#tap.poll(asked)
  }

  settle({ seconds }) {
    return this.#tap.settle(seconds, () => this.#assigned())
  }

  #assigned() {
    return this.#consumer.assignment().map(one => one.partition)
  }

  commit({ mode, metadata, epoch }) {
    const withEpoch = epoch === undefined ? {} : { leaderEpoch: Number(epoch) }
    return commit({ mode, tap: this.#tap, assigned: this.#assigned() }, async positions => {
      const offsets = positions.map(([partition, offset]) => ({
        topic: this.#topic,
        partition,
        offset,
        metadata,
        ...withEpoch
      }))
      await this.#consumer.commitOffsets(offsets)
      // That was done when the commit was queued. What is asked after it, on the same connection, is answered after it.
      await this.#consumer.committed(offsets, 20_000)
    })
  }

  // The consumer's own call takes a committed 0 for none.
  committed({ topic, partitions }) {
    return this.listOffsets({ group: this.#group, topic, partitions })
  }

  async close() {
    await this.#consumer?.disconnect()
  }

  async produce({ topic, partition, first, count, compression }) {
    const producer = this.#client.producer({ acks: -1, 'linger.ms': 5, 'compression.type': compression })
    await producer.connect()
    const messages = values({ first, count }).map(value => ({ value, partition: Number(partition) }))
    const [{ baseOffset }] = await producer.send({ topic, messages })
    await producer.disconnect()
    return appendedAt(baseOffset, count)
  }

  createTopic({ topic, partitions }) {
    return this.#administer(async admin => {
      const wanted = { topic, numPartitions: Number(partitions), replicationFactor: 1 }
      if (!(await admin.createTopics({ topics: [wanted] }))) throw new TopicAlreadyExists(topic)
    })
  }

  describeTopic({ topic }) {
    return this.#administer(async admin => {
      const [described] = await admin.fetchTopicMetadata({ topics: [topic] })
      return { partitions: described.partitions.length }
    })
  }

  deleteTopic({ topic }) {
    return this.#administer(admin => admin.deleteTopics({ topics: [topic] }))
  }

  listGroups() {
    return this.#administer(async admin => {
      const { groups, errors } = await admin.listGroups()
      if (errors.length > 0) throw errors[0]
      return { groups: groups.map(group => group.groupId).join(',') }
    })
  }

  describeGroup({ group }) {
    return this.#administer(async admin => {
      const [described] = (await admin.describeGroups([group])).groups
      if (described.error) throw described.error
      // The state is a number with a name in capitals.
      const [name] = Object.entries(ConsumerGroupStates).find(([, state]) => state === described.state)
      return { state: name[0] + name.slice(1).toLowerCase(), members: described.members.length }
    })
  }

  deleteGroup({ group }) {
    return this.#administer(async admin => {
      await admin.deleteGroups([group])
    })
  }

  listOffsets({ group, topic, partitions }) {
    const asked = [{ topic, partitions: numbers(partitions) }]
    return this.#administer(async admin => {
      const [{ partitions: found }] = await admin.fetchOffsets({ groupId: group, topics: asked })
      const entries = numbers(partitions).map(partition => found.find(one => one.partition === partition))
      return offsetsAnswer(entries.map(one => [one.partition, known(one.offset), one.metadata]))
    })
  }

  async #administer(work) {
    const admin = this.#client.admin()
    await admin.connect()
    try {
      return await work(admin)
    } finally {
      await admin.disconnect()
    }
  }
}

// Kafka's codes are positive, librdkafka's own negative. Some errors are wrapped.
function codeOf(error) {
  const inner = error.errors?.[0] ?? error.groups?.[0]?.error
  return inner ? codeOf(inner) : error.code
}

await run(new Member(programArguments()), codeOf)
