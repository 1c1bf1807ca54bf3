import { computeBackoff } from '#shared/async/backoff.ts';
import type { Clock } from '#shared/async/clock.ts';
import { toIrcKey } from '#shared/irc-key.ts';
import type { IrcServer } from '#shared/ports/irc-port.ts';
import { toQuote } from './irc-errors.ts';
import { formatLine, type IrcLine, parseSource } from './irc-line.ts';

const MIN_REJOIN_MS = 15_000;
/** Time after a refusal, which only people can change. */
const REFUSED_RETRY_MS = 5 * 60_000;
/** A channel in which Perch stays this long is joined again soon after a kick. */
const STABLE_MS = 5 * 60_000;
/** Refusals of `JOIN`, by number. */
const JOIN_ERRORS: Readonly<Record<string, string>> = {
  403: 'there is no such channel',
  405: 'Perch is in too many channels',
  407: 'the channel has several names',
  437: 'the channel is not available now',
  471: 'the channel is full',
  473: 'only those who are invited may join',
  474: 'Perch is banned there',
  475: 'the key is missing or wrong',
  476: 'the name is not valid',
  477: 'only people with an account may join',
  489: 'only encrypted connections may join',
};

interface ChannelsOptions {
  channels: IrcServer['channels'];
  clock: Clock;
  getNick(): string;
  write(line: string): void;
  /** Called when the problems may have changed. */
  onChange(): void;
}

interface ChannelState {
  joinedAt: number | undefined;
  problem: string | undefined;
  kicks: number;
  cancelRetry: () => void;
}

/** Joins channels, and joins them again after kicks. */
export class IrcChannels {
  readonly #options: ChannelsOptions;
  readonly #states = new Map<string, ChannelState>();

  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  get problems(): string[] {
    return [...this.#states.values()].flatMap(({ problem }) => problem ?? []);
  }

  isJoined(name: string): boolean {
    return this.#states.get(toIrcKey(name))?.joinedAt !== undefined;
  }

  /** Joins all channels. */
  start(): void {
    for (const { name } of this.#options.channels) {
      this.#states.set(toIrcKey(name), { joinedAt: undefined, problem: undefined, kicks: 0, cancelRetry: () => {} });
      this.#join(name);
    }
  }

  stop(): void {
    for (const { cancelRetry } of this.#states.values()) cancelRetry();
  }

  handle({ command, source, params }: IrcLine): void {
    const { clock, getNick, onChange } = this.#options;
    const isOwn = toIrcKey(parseSource(source)?.nick ?? source) === toIrcKey(getNick());
    const refusal = JOIN_ERRORS[command];
    const [name = '', kicked = ''] = refusal === undefined ? params : params.slice(1);
    const state = this.#states.get(toIrcKey(name));
    if (!state) return;
    if (command === 'JOIN' && isOwn) {
      state.joinedAt = clock.now();
      state.problem = undefined;
      return onChange();
    }
    if (refusal !== undefined && state.joinedAt === undefined) {
      state.problem = `Couldn’t join ${name}: ${refusal}.`;
      this.#retry(name, REFUSED_RETRY_MS);
      return onChange();
    }
    const isKicked = command === 'KICK' && toIrcKey(kicked) === toIrcKey(getNick());
    if (!isKicked && !(command === 'PART' && isOwn)) return;
    state.kicks = clock.now() - (state.joinedAt ?? 0) >= STABLE_MS ? 1 : state.kicks + 1;
    state.joinedAt = undefined;
    state.problem = `Perch was removed from ${name}${toQuote(params[isKicked ? 2 : 1] ?? '')}.`;
    this.#retry(name, computeBackoff(state.kicks, MIN_REJOIN_MS));
    onChange();
  }

  #join(name: string): void {
    const key = this.#options.channels.find((channel) => channel.name === name)?.key;
    this.#options.write(formatLine('JOIN', name, ...(key === undefined ? [] : [key])));
  }

  #retry(name: string, ms: number): void {
    const state = this.#states.get(toIrcKey(name));
    const channel = this.#options.channels.find((each) => toIrcKey(each.name) === toIrcKey(name));
    if (!state || !channel) return;
    state.cancelRetry();
    state.cancelRetry = this.#options.clock.after(ms, () => this.#join(channel.name));
  }
}
