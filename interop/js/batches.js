// What KafkaJS and Confluent's client, which took over its interface, have in common: both push batches.

import { Tap } from './puppet.js'

// A tap whose records come from `eachBatch` of this consumer. While nobody polls, its partitions are paused; the client
// goes on with its heartbeats. Partitions it is given later are not paused, until their first batch comes.
export function tapOf(consumer, isRunning = () => true) {
  let topic
  const tap = new Tap({
    open: () => isRunning() && consumer.resume([{ topic }]),
    close: () => isRunning() && consumer.pause([{ topic }])
  })
  // The offset of what was taken is resolved, and nothing else: the rest of the batch comes again.
  const eachBatch = async ({ batch, resolveOffset, pause }) => {
    for (const message of batch.messages) {
      const wanted = tap.take({ partition: batch.partition, offset: message.offset, value: message.value.toString() })
      if (!wanted) {
        pause()
        return
      }
      resolveOffset(message.offset)
    }
  }
  const subscribe = async (to, options) => {
    topic = to
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], ...options.subscription })
    await consumer.run({ eachBatchAutoResolve: false, eachBatch, ...options.run })
  }
  return { tap, subscribe }
}
