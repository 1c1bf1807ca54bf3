import type { MemoryLine } from '../../memory/long-term.ts';
import type { Memory } from '../../memory/long-term-file.ts';
import type { Pace } from '../pace.ts';
import { normalizeText } from '../signal.ts';
import { isSameValue } from '../text-features.ts';
import { isUpdate } from './is-update.ts';
import { type CandidateChange, createChange } from './memory-change.ts';
import { getTerms, isFactual, splitSentences, stripFrame } from './statement-text.ts';
import type { UpdateIndex } from './update-index.ts';

/** A shortened memory has at most this share of the characters. */
const MAX_SHORT_SHARE = 0.85;
const MIN_TERMS = 3;
/** Words in more memories than this do not lead to comparisons. */
const MAX_POSTINGS = 60;

interface SuggestDeps {
  memories: readonly Memory[];
  updates: UpdateIndex;
  pace: Pace;
}

/** Suggests replacing sentences that a later statement made outdated. */
export async function suggestUpdates({ memories, updates, pace }: SuggestDeps): Promise<CandidateChange[]> {
  const changes: CandidateChange[] = [];
  for (const memory of memories) {
    const sentences = splitSentences(memory.text);
    for (const [index, sentence] of sentences.entries()) {
      const replacing = (await updates.find(sentence, memory.createdAt)).at(-1);
      await pace();
      if (!replacing) continue;
      const isKnown = memories.some((other) => other.id !== memory.id && saysTheSame(other.text, replacing.text));
      const texts = sentences.flatMap((each, position) => {
        if (position === index) return isKnown ? [] : stripFrame(replacing.text);
        return isFactual(each) ? each : [];
      });
      const added: MemoryLine[] =
        texts.length === 0 ? [] : [{ ...memory, text: texts.join(' '), createdAt: isKnown ? memory.createdAt : replacing.at }];
      const sourceRef = isKnown ? '' : replacing.sourceRef;
      changes.push(await createChange({ kind: isKnown ? 'retire' : 'update', removed: [memory], added, sourceRef }));
      // The other sentences have another night.
      break;
    }
  }
  return changes;
}

const saysTheSame = (memory: string, statement: string): boolean => {
  const own = getTerms(memory);
  return [...getTerms(stripFrame(statement))].every((term) => own.has(term));
};

/** Suggests removing one of two memories if one has all words of the other: first the longer one, then the shorter one. */
export async function suggestMerges(memories: readonly Memory[], pace: Pace): Promise<CandidateChange[]> {
  const changes: CandidateChange[] = [];
  const postings = new Map<string, number[]>();
  const plain = memories.map(({ text }) => stripFrame(text));
  for (const [number, text] of plain.entries()) {
    const own = getTerms(text);
    const shared = new Map<number, number>();
    for (const term of own) {
      const posting = postings.get(term) ?? [];
      if (posting.length <= MAX_POSTINGS) for (const other of posting) shared.set(other, (shared.get(other) ?? 0) + 1);
      postings.set(term, [...posting, number]);
    }
    for (const [other, count] of shared) {
      await pace();
      const [first, second, otherText] = [memories[other], memories[number], plain[other] ?? ''];
      const smaller = Math.min(own.size, getTerms(otherText).size);
      if (!first || !second || smaller < MIN_TERMS || count < smaller) continue;
      if (!isSameValue(otherText, text) || isUpdate(otherText, text) || isUpdate(text, otherText)) continue;
      const [short, long] = first.text.length <= second.text.length ? [first, second] : [second, first];
      for (const [removed, staying] of [
        [long, short],
        [short, long],
      ] as const)
        changes.push(await createChange({ kind: 'merge', removed: [removed], added: [], duplicateOf: staying.text }));
    }
  }
  return changes;
}

/** Suggests leaving out the parts of memories that state nothing. */
export async function suggestShorter(memories: readonly Memory[], pace: Pace): Promise<CandidateChange[]> {
  const changes: CandidateChange[] = [];
  const texts = new Set(memories.map(({ text }) => normalizeText(text)));
  for (const memory of memories) {
    await pace();
    const text = splitSentences(memory.text).filter(isFactual).map(stripFrame).join(' ');
    if (text === '' || text.length > memory.text.length * MAX_SHORT_SHARE) continue;
    const added = texts.has(normalizeText(text)) ? [] : [{ ...memory, text }];
    const change = added.length === 0 ? ({ kind: 'merge', duplicateOf: text } as const) : ({ kind: 'shorten' } as const);
    changes.push(await createChange({ ...change, removed: [memory], added }));
  }
  return changes;
}
