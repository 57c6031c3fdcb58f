// The words a client program understands, one a line: the same as in ../clients/puppet.py, which says what they mean.
// A client program gives an object with one method a verb; this module reads the lines, calls the methods, and turns
// exceptions into error lines.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

// Standard output is for answers; some clients log to the console.
console.log = console.info = console.debug = console.error

// A record that comes while members only settle would be lost to the story: it is an error.
export class UnexpectedRecord extends Error {
  name = 'UnexpectedRecord'
}

export function programArguments() {
  const { values } = parseArgs({
    options: {
      bootstrap: { type: 'string' },
      group: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] }
    }
  })
  const settings = new Map(values.set.map(setting => setting.split(/=(.*)/s, 2)))
  return { bootstrap: values.bootstrap, group: values.group, settings }
}

// The version of an installed package, as it says itself.
export function versionOf(name) {
  const place = new URL(`node_modules/${name}/package.json`, import.meta.url)
  return { version: JSON.parse(readFileSync(place, 'utf8')).version }
}

export const numbers = value => value.split(',').map(Number)

export const values = ({ first, count }) =>
  Array.from({ length: Number(count) }, (_, at) => `value-${Number(first) + at}`)

// The offset of each of `count` records that were appended together.
export function appendedAt(base, count) {
  return { offsets: Array.from({ length: Number(count) }, (_, at) => String(BigInt(base) + BigInt(at))).join(',') }
}

// `found`: [[partition, offset or null, metadata]].
export function offsetsAnswer(found) {
  const entries = found.map(
    ([partition, offset, metadata]) => `${partition}:${offset ?? 'none'}:${encodeURIComponent(metadata ?? '')}`
  )
  return { offsets: entries.join(',') }
}

// Kafka's −1 for "none" comes as a number, a text or a bigint.
export const known = offset => (BigInt(offset) < 0n ? null : String(offset))

// Between a client that hands out records when it likes and a story that asks when it likes. The client is told to
// deliver only while a word is polling, and what the story did not ask for stays with the client.
export class Tap {
  #opened
  #closed
  #polling = null
  #failure = null
  // What the story has been given, by partition: the offset after the last record.
  positions = new Map()

  constructor({ open, close }) {
    this.#opened = open
    this.#closed = close
  }

  // Called by the client. False means that nobody wants this record now; it must come again later.
  take({ partition, offset, value }) {
    const polling = this.#polling
    if (!polling || polling.records.length >= polling.wanted) return false
    this.positions.set(Number(partition), String(BigInt(offset) + 1n))
    polling.records.push(`${partition}:${offset}:${value}`)
    if (polling.records.length >= polling.wanted) {
      this.#closed()
      polling.finish()
    }
    return true
  }

  // The client has partitions that it did not have when it was told to deliver.
  reopen() {
    if (this.#polling) this.#opened()
  }

  // The client cannot go on; the poll of now, or the next one, says so.
  fail(error) {
    this.#failure = error
    this.#polling?.finish()
  }

  async poll({ records, seconds }) {
    const taken = await this.#until(Number(records), Number(seconds))
    return { records: taken.join(',') }
  }

  // Polls for so long, or until the work is done; no record may come.
  async pollNothing(seconds, work = null) {
    const [record] = await this.#until(1, seconds, work)
    if (record !== undefined) throw new UnexpectedRecord(`record ${record} while none was expected`)
  }

  async settle(seconds, assignment) {
    await this.pollNothing(Number(seconds))
    return { partitions: assignment().sort((one, other) => one - other).join(',') }
  }

  async #until(wanted, seconds, work) {
    const records = []
    if (wanted > 0 && !this.#failure) {
      await new Promise(resolve => {
        const timer = setTimeout(resolve, seconds * 1000)
        const finish = () => {
          clearTimeout(timer)
          resolve()
        }
        this.#polling = { wanted, records, finish }
        work?.then(finish, finish)
        this.#opened()
      })
      this.#polling = null
      this.#closed()
    }
    if (this.#failure) {
      const failure = this.#failure
      this.#failure = null
      throw failure
    }
    return records
  }
}

// A member that has been put out of its group knows it, sooner or later, and then has nothing that it may commit.
export class NothingAssigned extends Error {
  name = 'NothingAssigned'
}

// Commits the positions of what is assigned: `work(positions)` begins a commit of [[partition, offset]]. Every commit
// of these clients is a promise; an asynchronous one is not awaited while the member goes on polling.
export async function commit({ mode, tap, assigned }, work) {
  const positions = assigned
    .filter(partition => tap.positions.has(partition))
    .map(partition => [partition, tap.positions.get(partition)])
  if (positions.length === 0) throw new NothingAssigned('no partition that was read is assigned')
  const committing = work(positions)
  if (mode === 'async') await tap.pollNothing(20, committing)
  await committing
}

// Settings as these clients take them: numbers and truth values as such.
export function typed(value) {
  if (value === 'true' || value === 'false') return value === 'true'
  return /^\d+$/.test(value) ? Number(value) : value
}

function say(kind, answer) {
  const words = Object.entries(answer ?? {}).map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
  process.stdout.write([kind, ...words].join(' ') + '\n')
}

// Serves lines until `close` or the end of input. `codeOf(error)` gives Kafka's code, or null.
export async function run(member, codeOf) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, ...words] = line.split(' ')
    const pairs = words.map(word => word.split(/=(.*)/s, 2))
    const given = Object.fromEntries(pairs.map(([key, value]) => [key, decodeURIComponent(value)]))
    const method = verb.replace(/-(.)/g, (_, letter) => letter.toUpperCase())
    try {
      say('ok', await member[method](given))
      if (verb === 'close') break
    } catch (error) {
      console.error(error)
      const code = codeOf(error)
      say('error', { name: error.name, code: code > 0 ? code : '', text: error.message })
    }
  }
  process.exit(0)
}
