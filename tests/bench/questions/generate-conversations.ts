import { createRandom } from '../../support/seed.ts';
import { CODE } from './code.ts';
import { GERMAN } from './german.ts';
import { HEALTH } from './health.ts';
import { HOBBIES } from './hobbies.ts';
import { HOUSEHOLD } from './household.ts';
import { JAPANESE } from './japanese.ts';
import type { Change, Collection, Contradiction, Fact, Material, QuestionKind } from './material.ts';
import { SPEECH, type Speech } from './speech.ts';
import { TRAVEL } from './travel.ts';
import { WORK } from './work.ts';

export interface OwnQuestion {
  question: string;
  /** Turns that answer it; none if the conversation does not. */
  evidence: string[];
  kind: QuestionKind;
  /** Date of the question. */
  askedAt: string;
  /** Turns whose content is out of date. */
  stale: string[];
}

export interface OwnConversation {
  name: string;
  language: string;
  /** Held back from all tuning: no weight, word list or rule may be chosen by its questions. */
  isHeldBack: boolean;
  sessions: { date: string; turns: [id: string, speaker: string, text: string][] }[];
  questions: OwnQuestion[];
  /** Questions about things that were never said. */
  unanswerable: OwnQuestion[];
}

const DAY_MS = 86_400_000;
const SESSIONS = 24;
const START = Date.UTC(2024, 0, 8, 18);
/** Conversations by language, half of them held back. */
const CONVERSATIONS = { en: 20, de: 4, ja: 4 } as const;
/** Number of facts of each kind that a person tells, as far as there are enough. */
const FACTS: Readonly<Record<Fact['kind'], number>> = { 'one-turn': 7, time: 3, preferences: 3, negation: 3, open: 2 };
const COLLECTIONS = 3;
const CHANGES = 2;
const CONTRADICTIONS = 2;

const DOMAINS = [HOUSEHOLD, WORK, TRAVEL, HEALTH, CODE, HOBBIES];

/** The project's own conversations with questions: the same on every machine. Odd ones are held back. */
export function generateConversations(): OwnConversation[] {
  return Object.entries(CONVERSATIONS).flatMap(([language, count]) =>
    Array.from({ length: count }, (_, nth) => new ConversationWriter(language as Language, nth).write()),
  );
}

type Language = keyof typeof CONVERSATIONS;
type Random = (max: number) => number;

/** Turns to be told together. */
interface Told {
  session: number;
  turns: { speaker: string; text: string; mark?: string }[];
}

class ConversationWriter {
  readonly #language: Language;
  readonly #nth: number;
  readonly #half: number;
  readonly #random: Random;
  readonly #speech: Speech;
  readonly #people: [string, string];
  readonly #material: Material;
  readonly #told: Told[] = [];
  readonly #questions: (Omit<OwnQuestion, 'askedAt' | 'stale'> & { stale?: string[] })[] = [];
  readonly #unanswerable: string[] = [];
  #marks = 0;

  constructor(language: Language, nth: number) {
    [this.#language, this.#nth, this.#half] = [language, nth, nth % 2];
    this.#random = createRandom(1000 + nth * 7 + language.charCodeAt(0) * 131);
    this.#speech = SPEECH[language];
    const { names } = this.#speech;
    this.#people = [names[(2 * nth) % names.length] ?? '', names[(2 * nth + 1) % names.length] ?? ''];
    const domains =
      language === 'de' ? [GERMAN] : language === 'ja' ? [JAPANESE] : [0, 1, 3].map((step) => DOMAINS[(nth + step) % 6] ?? WORK);
    this.#material = {
      facts: domains.flatMap(({ facts }) => facts),
      collections: domains.flatMap(({ collections }) => collections),
      changes: domains.flatMap(({ changes }) => changes),
      contradictions: domains.flatMap(({ contradictions }) => contradictions),
      chatter: language === 'en' ? DOMAINS.flatMap(({ chatter }) => chatter) : domains.flatMap(({ chatter }) => chatter),
    };
  }

  write(): OwnConversation {
    this.#people.forEach((person, index) => this.#tellAll(person, this.#people[1 - index] ?? ''));
    this.#askBoth();
    const ids = new Map<string, string>();
    const sessions = Array.from({ length: SESSIONS }, (_, session) => this.#writeSession(session, ids));
    const askedAt = toDate(this.#startOf(SESSIONS) + 9 * DAY_MS);
    const toIds = (marks: readonly string[]): string[] => marks.flatMap((mark) => ids.get(mark) ?? []);
    return {
      name: `own-${this.#language}-${String(this.#nth).padStart(2, '0')}`,
      language: this.#language,
      isHeldBack: this.#half === 1,
      sessions,
      questions: this.#questions.map(({ stale = [], evidence, ...each }) => ({
        ...each,
        evidence: toIds(evidence),
        stale: toIds(stale),
        askedAt,
      })),
      unanswerable: this.#unanswerable.map((question) => ({ question, kind: 'one-turn', evidence: [], stale: [], askedAt })),
    };
  }

  #tellAll(person: string, other: string): void {
    const { facts, collections, changes, contradictions } = this.#material;
    const chosen = Object.entries(FACTS).flatMap(([kind, count]) => {
      const all = this.#shuffle(facts.filter((fact) => fact.kind === kind));
      // Some of the rest are asked, and were never told.
      if (kind !== 'open' && kind !== 'time')
        for (const { asked, slots } of all.slice(count, count + 2)) this.#unanswerable.push(this.#ask(asked, person, other, slots));
      return all.slice(0, count);
    });
    const told = chosen.map((fact) => ({ fact, ...this.#tellFact(fact, person, other) }));
    for (const collection of this.#shuffle(collections).slice(0, COLLECTIONS)) this.#tellCollection(collection, person, other);
    for (const change of this.#shuffle(changes).slice(0, CHANGES)) this.#tellChange(change, person, other);
    for (const each of this.#shuffle(contradictions).slice(0, CONTRADICTIONS)) this.#tellContradiction(each, person, other);
    // One turn names the person, another gives the answer.
    const answers = told.filter(({ fact }) => fact.kind === 'preferences' || fact.kind === 'negation');
    for (const [index, { fact, values, mark }] of told.filter(({ fact }) => fact.alias).entries()) {
      const answer = answers[index];
      if (!fact.alias || !answer) continue;
      const description = fill(this.#word(fact.alias), values, false);
      const question = fill(this.#word(answer.fact.asked), { ...answer.values, P: description });
      this.#questions.push({ kind: 'several-turn', question, evidence: [mark, answer.mark] });
    }
  }

  #tellFact({ kind, slots, lead, said, asked }: Fact, person: string, other: string): { values: Record<string, string>; mark: string } {
    const session = this.#random(SESSIONS);
    const values = this.#fillSlots(slots);
    const { phrase, daysAgo } = this.#pick(this.#speech.whens);
    const eventAt = this.#startOf(session) - daysAgo * DAY_MS;
    const date = new Date(eventAt).toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
    const all = { ...values, P: person, O: other, when: phrase, date };
    const mark = this.#tell(session, person, other, fill(this.#word(said), all), lead && fill(this.#word(lead), all));
    this.#questions.push({ kind, question: fill(this.#word(asked), all), evidence: [mark] });
    return { values: all, mark };
  }

  #tellCollection({ lead, asked, items }: Collection, person: string, other: string): void {
    const own = this.#shuffle(items.filter((_, index) => index % 2 === this.#half)).slice(0, 3 + this.#random(3));
    const sessions = this.#shuffle(Array.from({ length: SESSIONS }, (_, session) => session));
    const evidence = own.map(([said], index) => this.#tell(sessions[index] ?? 0, person, other, said, lead && this.#word(lead)));
    this.#questions.push({ kind: 'several-turn', question: this.#ask(asked, person, other), evidence });
  }

  #tellChange({ values, before, after, asked }: Change, person: string, other: string): void {
    const [old = '', current = ''] = this.#shuffle(values);
    const first = this.#random(SESSIONS / 2);
    const second = SESSIONS / 2 + this.#random(SESSIONS / 2);
    const stale = this.#tell(first, person, other, fill(this.#word(before), { old }));
    const mark = this.#tell(second, person, other, fill(this.#word(after), { new: current }));
    this.#questions.push({ kind: 'updates', question: this.#ask(asked, person, other), evidence: [mark], stale: [stale] });
  }

  #tellContradiction({ first, second, asked }: Contradiction, person: string, other: string): void {
    const at = this.#random(SESSIONS - 4);
    const evidence = [
      this.#tell(at, person, other, this.#word(first)),
      this.#tell(at + 2 + this.#random(SESSIONS - at - 2), person, other, this.#word(second)),
    ];
    this.#questions.push({ kind: 'contradictions', question: this.#ask(asked, person, other), evidence });
  }

  /** Questions about both people, as far as both have told of the same collection. */
  #askBoth(): void {
    const [one, two] = this.#people;
    if (this.#language !== 'en') return;
    for (const { asked } of this.#material.collections) {
      const evidence = [one, two].map(
        (person) => this.#questions.find(({ question }) => question === this.#ask(asked, person, ''))?.evidence,
      );
      if (!evidence[0] || !evidence[1]) continue;
      const text = this.#word(asked)
        .replace(/\bhas \{P\}/, 'have {P}')
        .replace(/\bdoes \{P\}/, 'do {P}');
      this.#questions.push({
        kind: 'several-turn',
        question: fill(text, { P: `${one} and ${two}` }),
        evidence: evidence.flatMap((each) => each ?? []),
      });
    }
  }

  #tell(session: number, speaker: string, other: string, said: string, lead?: string): string {
    const mark = `m${this.#marks++}`;
    const { openers, closers, replies } = this.#speech;
    const text = `${this.#random(3) === 0 ? this.#pick(openers) : ''}${said}${this.#random(4) === 0 ? this.#pick(closers) : ''}`;
    const echo = said.split(/[.,!?:;。、]/)[0] ?? said;
    const reply = this.#random(5) === 0 && echo.length < 60 ? `${echo}?` : this.#pick(replies);
    const turns: Told['turns'] = [{ speaker, text, mark }];
    if (lead !== undefined && this.#random(3) > 0) turns.unshift({ speaker: other, text: lead });
    if (this.#random(3) > 0) turns.push({ speaker: other, text: reply });
    this.#told.push({ session, turns });
    return mark;
  }

  #writeSession(session: number, ids: Map<string, string>): OwnConversation['sessions'][number] {
    const turns: [string, string, string][] = [];
    let speaker = this.#random(2);
    const add = (name: string, text: string, mark?: string): void => {
      const id = `${session + 1}:${turns.length + 1}`;
      turns.push([id, name, text]);
      if (mark !== undefined) ids.set(mark, id);
    };
    const chat = (): void => {
      for (let count = 1 + this.#random(3); count > 0; count--) add(this.#people[speaker++ % 2] ?? '', this.#pick(this.#material.chatter));
    };
    chat();
    for (const told of this.#shuffle(this.#told.filter((each) => each.session === session))) {
      for (const { speaker: name, text, mark } of told.turns) add(name, text, mark);
      chat();
    }
    return { date: toDate(this.#startOf(session)), turns };
  }

  #startOf(session: number): number {
    return START + (session * 15 + ((this.#nth * 5 + session * 3) % 7)) * DAY_MS + ((session * 5) % 4) * 3_600_000;
  }

  #fillSlots(slots: Fact['slots'] = {}): Record<string, string> {
    return Object.fromEntries(Object.entries(slots).map(([name, values]) => [name, this.#pick(values)]));
  }

  /** The question in the wording of this half. Slots that it names are those of the fact if there is only one value; else it is left open. */
  #ask(asked: readonly string[], person: string, other: string, slots: Fact['slots'] = {}): string {
    const values = Object.fromEntries(Object.entries(slots).map(([name, [first = '']]) => [name, first]));
    return fill(this.#word(asked), { ...values, P: person, O: other, date: 'June 2024' });
  }

  /** The wording of this conversation's half; a pair of wordings is used in turns. */
  #word(wordings: readonly string[]): string {
    const own = wordings.filter((_, index) => wordings.length === 1 || index % 2 === this.#half);
    return own[(this.#nth >> 1) % own.length] ?? '';
  }

  #pick<T>(all: readonly T[]): T {
    const one = all[this.#random(all.length)];
    if (one === undefined) throw new Error('Nothing to choose from');
    return one;
  }

  #shuffle<T>(all: readonly T[]): T[] {
    const rest = [...all];
    return all.flatMap(() => rest.splice(this.#random(rest.length), 1));
  }
}

/** Fills placeholders; a sentence begins with a capital. */
function fill(text: string, values: Readonly<Record<string, string>>, isSentence = true): string {
  const filled = text.replace(/\{(\w+)\}/g, (found, name: string) => values[name] ?? found);
  return isSentence ? filled.replace(/(^|[.!?] )(\p{Ll})/gu, (_, before: string, letter: string) => before + letter.toUpperCase()) : filled;
}

const toDate = (at: number): string => new Date(at).toISOString().slice(0, 16);
