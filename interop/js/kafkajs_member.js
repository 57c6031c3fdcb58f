// A member that is KafkaJS.

import kafkajs from 'kafkajs'
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

const TOPIC_ALREADY_EXISTS = 36
const { CompressionTypes } = kafkajs
const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD
}

// It tries again even where the answer cannot change, such as the deletion of a topic that is not there.
const FEW_RETRIES = { initialRetryTime: 50, retries: 2 }

// The client answers `false` where others raise an error.
class TopicAlreadyExists extends Error {
  name = 'TopicAlreadyExists'
  code = TOPIC_ALREADY_EXISTS
}

class Member {
  #client
  #group
  #settings
  #consumer
  #tap
  #subscribe
  #topic
  #assigned = []

  constructor({ bootstrap, group, settings }) {
    this.#client = new kafkajs.Kafka({ brokers: [bootstrap], logLevel: kafkajs.logLevel.INFO })
    this.#group = group
    this.#settings = settings
    if (group !== undefined) this.#startConsumer()
  }

  #startConsumer() {
    this.#consumer = this.#client.consumer({
      groupId: this.#group,
      sessionTimeout: typed(this.#settings.get('session.timeout.ms')),
      heartbeatInterval: typed(this.#settings.get('heartbeat.interval.ms')),
      maxWaitTimeInMs: 100
    })
    // After a crash it starts anew by itself, and knows no partitions until it has joined.
    let running = true
    const tapped = tapOf(this.#consumer, () => running)
    this.#tap = tapped.tap
    this.#subscribe = tapped.subscribe
    this.#consumer.on(this.#consumer.events.GROUP_JOIN, ({ payload }) => {
      running = true
      this.#assigned = payload.memberAssignment[this.#topic] ?? []
    })
    this.#consumer.on(this.#consumer.events.CRASH, ({ payload }) => {
      running = false
      if (!payload.restart) this.#tap.fail(payload.error)
    })
  }

  version() {
    return versionOf('kafkajs')
  }

  async subscribe({ topic }) {
    this.#topic = topic
    await this.#subscribe(topic, {
      subscription: { fromBeginning: this.#settings.get('auto.offset.reset') === 'earliest' },
      run: {
        autoCommit: this.#settings.get('enable.auto.commit') !== 'false',
        autoCommitInterval: typed(this.#settings.get('auto.commit.interval.ms') ?? '5000')
      }
    })
  }

  poll(asked) {
    return this.#tap.poll(asked)
  }

  settle({ seconds }) {
    return this.#tap.settle(seconds, () => this.#assigned)
  }

  commit({ mode, metadata }) {
    return commit({ mode, tap: this.#tap, assigned: this.#assigned }, positions =>
      this.#consumer.commitOffsets(
        positions.map(([partition, offset]) => ({ topic: this.#topic, partition, offset, metadata }))
      )
    )
  }

  // The consumer has no call for this; the admin client asks for the same group.
  committed({ topic, partitions }) {
    return this.listOffsets({ group: this.#group, topic, partitions })
  }

  async close() {
    await this.#consumer?.disconnect()
  }

  async produce({ topic, partition, first, count, compression }) {
    const producer = this.#client.producer()
    await producer.connect()
    const [{ baseOffset }] = await producer.send({
      topic,
      acks: -1,
      compression: CODECS[compression],
      messages: values({ first, count }).map(value => ({ value, partition: Number(partition) }))
    })
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
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
      return { partitions: topics[0].partitions.length }
    })
  }

  deleteTopic({ topic }) {
    return this.#administer(admin => admin.deleteTopics({ topics: [topic] }))
  }

  listGroups() {
    return this.#administer(async admin => {
      const { groups } = await admin.listGroups()
      return { groups: groups.map(group => group.groupId).join(',') }
    })
  }

  describeGroup({ group }) {
    return this.#administer(async admin => {
      const { groups } = await admin.describeGroups([group])
      return { state: groups[0].state, members: groups[0].members.length }
    })
  }

  deleteGroup({ group }) {
    return this.#administer(async admin => {
      await admin.deleteGroups([group])
    })
  }

  listOffsets({ group, topic, partitions }) {
    return this.#administer(async admin => {
      const [{ partitions: found }] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
      const entries = numbers(partitions).map(partition => found.find(entry => entry.partition === partition))
      return offsetsAnswer(entries.map(entry => [entry.partition, known(entry.offset), entry.metadata]))
    })
  }

  alterOffset({ group, topic, partition, offset }) {
    const partitions = [{ partition: Number(partition), offset }]
    return this.#administer(admin => admin.setOffsets({ groupId: group, topic, partitions }))
  }

  async #administer(work) {
    const admin = this.#client.admin({ retry: FEW_RETRIES })
    await admin.connect()
    try {
      return await work(admin)
    } finally {
      await admin.disconnect()
    }
  }
}

// Some errors are wrapped: in a list of several, in the error of one group, or in the last of many tries.
function codeOf(error) {
  const inner = error.errors?.[0] ?? error.groups?.[0]?.error ?? error.cause
  return typeof error.code === 'number' ? error.code : inner ? codeOf(inner) : null
}

await run(new Member(programArguments()), codeOf)
