// A member that is @platformatic/kafka.

import { Admin, Consumer, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import {
  appendedAt,
  commit,
  known,
  numbers,
  offsetsAnswer,
  programArguments,
  run,
  Tap,
  typed,
  values,
  versionOf
} from './puppet.js'

// The client's names for what to do without a commit.
const FALLBACK = { earliest: 'earliest', latest: 'latest', none: 'fail' }
const NO_EPOCH = -1

class Member {
  #base
  #group
  #settings
  #consumer
  #stream
  #topic
  #tap = new Tap({ open: () => this.#stream?.resume(), close: () => this.#stream?.pause() })

  constructor({ bootstrap, group, settings }) {
    this.#base = { clientId: 'member', bootstrapBrokers: [bootstrap] }
    this.#group = group
    this.#settings = settings
    if (group !== undefined) {
      const sessionTimeout = typed(settings.get('session.timeout.ms'))
      this.#consumer = new Consumer({
        ...this.#base,
        // Its own three tries would give up on a server that takes a few seconds to start again.
        retries: 60,
        retryDelay: 500,
        groupId: group,
        groupInstanceId: settings.get('group.instance.id'),
        sessionTimeout,
        rebalanceTimeout: Math.max(sessionTimeout, 60_000),
        heartbeatInterval: typed(settings.get('heartbeat.interval.ms')),
        deserializers: stringDeserializers
      })
    }
  }

  version() {
    return versionOf('@platformatic/kafka')
  }

  async subscribe({ topic }) {
    this.#topic = topic
    const automatic = this.#settings.get('enable.auto.commit') !== 'false'
    this.#stream = await this.#consumer.consume({
      topics: [topic],
      mode: 'committed',
      fallbackMode: FALLBACK[this.#settings.get('auto.offset.reset') ?? 'latest'],
      autocommit: automatic && typed(this.#settings.get('auto.commit.interval.ms') ?? '5000'),
      maxWaitTime: 100
    })
    // It delivers only while a word polls; one that came too early would be lost, and is an error.
    this.#stream.pause()
    this.#stream.on('data', record => {
      if (!this.#tap.take(record)) this.#tap.fail(new Error(`record ${record.partition}:${record.offset} while paused`))
    })
    this.#stream.on('error', error => this.#tap.fail(error))
  }

  poll(asked) {
    return this.#tap.poll(asked)
  }

  settle({ seconds }) {
    return this.#tap.settle(seconds, () => this.#assigned())
  }

  #assigned() {
    return this.#consumer.assignments?.find(one => one.topic === this.#topic)?.partitions ?? []
  }

  commit({ mode, epoch }) {
    const leaderEpoch = epoch === undefined ? NO_EPOCH : Number(epoch)
    return commit({ mode, tap: this.#tap, assigned: this.#assigned() }, positions =>
      this.#consumer.commit({
        offsets: positions.map(([partition, offset]) => ({
          topic: this.#topic,
          partition,
          offset: BigInt(offset),
          leaderEpoch
        }))
      })
    )
  }

  // The consumer's own call tells no metadata.
  committed({ topic, partitions }) {
    return this.listOffsets({ group: this.#group, topic, partitions })
  }

  async close() {
    // The stream first: it commits what is left to commit, for which it needs the consumer.
    await this.#stream?.close()
    await this.#consumer?.close(true)
  }

  async produce({ topic, partition, first, count, compression }) {
    const producer = new Producer({ ...this.#base, serializers: stringSerializers })
    const { offsets } = await producer.send({
      acks: -1,
      compression,
      messages: values({ first, count }).map(value => ({ topic, partition: Number(partition), value }))
    })
    await producer.close()
    return appendedAt(offsets[0].offset, count)
  }

  createTopic({ topic, partitions }) {
    return this.#administer(async admin => {
      await admin.createTopics({ topics: [topic], partitions: Number(partitions), replicas: 1 })
    })
  }

  describeTopic({ topic }) {
    return this.#administer(async admin => {
      const { topics } = await admin.metadata({ topics: [topic] })
      return { partitions: topics.get(topic).partitionsCount }
    })
  }

  deleteTopic({ topic }) {
    return this.#administer(admin => admin.deleteTopics({ topics: [topic] }))
  }

  listGroups() {
    return this.#administer(async admin => ({ groups: [...(await admin.listGroups()).keys()].join(',') }))
  }

  describeGroup({ group }) {
    return this.#administer(async admin => {
      const described = (await admin.describeGroups({ groups: [group] })).get(group)
      // It writes the states as its own constants.
      const state = described.state.toLowerCase().replace(/(^|_)(.)/g, (_, __, letter) => letter.toUpperCase())
      return { state, members: described.members.size }
    })
  }

  deleteGroup({ group }) {
    return this.#administer(admin => admin.deleteGroups({ groups: [group] }))
  }

  deleteOffsets({ group, topic, partitions }) {
    const topics = [{ name: topic, partitionIndexes: numbers(partitions) }]
    return this.#administer(async admin => {
      await admin.deleteConsumerGroupOffsets({ groupId: group, topics })
    })
  }

  listOffsets({ group, topic, partitions }) {
    const topics = [{ name: topic, partitionIndexes: numbers(partitions) }]
    return this.#administer(async admin => {
      const [found] = await admin.listConsumerGroupOffsets({ groups: [{ groupId: group, topics }] })
      const entries = found.topics.find(one => one.name === topic).partitions
      return offsetsAnswer(entries.map(one => [one.partitionIndex, known(one.committedOffset), one.metadata]))
    })
  }

  alterOffset({ group, topic, partition, offset }) {
    const topics = [{ name: topic, partitionOffsets: [{ partition: Number(partition), offset: BigInt(offset) }] }]
    return this.#administer(admin => admin.alterConsumerGroupOffsets({ groupId: group, topics }))
  }

  async #administer(work) {
    const admin = new Admin(this.#base)
    try {
      return await work(admin)
    } finally {
      await admin.close()
    }
  }
}

// Kafka's code is on the innermost error.
function codeOf(error) {
  if (typeof error.apiCode === 'number') return error.apiCode
  const inner = error.errors?.[0] ?? error.cause
  return inner ? codeOf(inner) : null
}

await run(new Member(programArguments()), codeOf)
