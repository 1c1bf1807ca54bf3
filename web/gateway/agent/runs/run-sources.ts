import type { CitableSource, Citation, CitedSource } from '#shared/rpc/passage.ts';
import type { MarkerFilter } from '#shared/citations/marker-filter.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';

/** Maximum number of sources of a run, and of characters of each, that are kept to be cited. */
const MAX_SOURCES = 200;
const MAX_SOURCE_CHARS = 4_000;

/** A reply without the markers of its model, and the sources of its claims. */
export interface SettledText {
  content: string;
  citations?: Citation[];
  sources?: CitedSource[];
}

/** The texts that a run has read and that its reply can cite, by numbers that are unique in the branch. */
export class RunSources {
  readonly #byNumber = new Map<number, CitedSource>();
  readonly #numbers = new Map<string, number>();
  /** Numbers of sources that this run has read. */
  readonly #own = new Set<number>();
  /** Sources by the call that read them. */
  readonly #byCall = new Map<string, CitedSource[]>();
  #next = 1;

  get isEmpty(): boolean {
    return this.#byNumber.size === 0;
  }

  list(): CitedSource[] {
    return [...this.#byNumber.values()];
  }

  /** Adds what earlier turns have read and cited: a reply can cite it again. */
  addEarlier(messages: readonly Pick<MessageRecord, 'readSources' | 'sources'>[]): void {
    for (const { readSources = [], sources = [] } of messages) for (const source of [...readSources, ...sources]) this.#add(source);
  }

  /** Numbers some sources. The text of a source is kept up to a limit, and that of the first 200 sources of a run. */
  cite(sources: readonly CitableSource[], callId = ''): number[] {
    return sources.map((source) => {
      const number = this.#numbers.get(source.id) ?? this.#next;
      const known = this.#byNumber.get(number);
      // A page may have changed since an earlier turn.
      const numbered = { ...source, text: source.text.slice(0, MAX_SOURCE_CHARS), number };
      if (known && known.text === numbered.text) this.#own.add(number);
      else if (this.#own.size < MAX_SOURCES) {
        this.#add(numbered);
        this.#own.add(number);
      } else {
        this.#numbers.set(source.id, number);
        this.#next = Math.max(this.#next, number + 1);
        return number;
      }
      const read = this.#byCall.get(callId) ?? [];
      if (!read.some((other) => other.number === number)) this.#byCall.set(callId, [...read, numbered]);
      return number;
    });
  }

  /** The sources that a call has read. */
  getRead(callId: string): CitedSource[] {
    return this.#byCall.get(callId) ?? [];
  }

  /** A filter that removes references to these sources from text. */
  async createFilter(): Promise<MarkerFilter> {
    const { MarkerFilter } = await import('#shared/citations/marker-filter.ts');
    return new MarkerFilter(this.#rules);
  }

  /** Removes the markers from a text and finds the sources of its claims. `question`: the message that it answers. */
  async settle(content: string, question: string): Promise<SettledText> {
    if (this.isEmpty || content === '') return { content };
    const { settleCitations } = await import('./settle-citations.ts');
    return settleCitations(content, { sources: this.list(), own: this.#own, question, rules: this.#rules });
  }

  get #rules(): { isKnown(number: number): boolean; isQuoted(text: string): boolean } {
    return {
      isKnown: (number) => number > 0 && number < this.#next,
      isQuoted: (text) => this.list().some((source) => source.text.includes(text)),
    };
  }

  #add(source: CitedSource): void {
    this.#byNumber.set(source.number, source);
    this.#numbers.set(source.id, source.number);
    this.#next = Math.max(this.#next, source.number + 1);
  }
}
