import { formatList, formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import type { RecalledMemory } from './types.ts';

const quoteWords = (words: readonly string[]): string => formatList(words.map((word) => m.memory_words_quoted({ word })));

/** Reasons why a memory was recalled, as short sentences. */
export function getRecallReasons({ words, beside, timely, alike }: RecalledMemory['why']): string[] {
  const reasons = [
    ...(words.length > 0 ? [m.memory_words_reason_words({ words: quoteWords(words) })] : []),
    ...(beside.length > 0 ? [m.memory_words_reason_beside({ words: quoteWords(beside) })] : []),
    ...(timely ? [m.memory_words_reason_time()] : []),
    ...(alike !== undefined && alike > 0 ? [m.memory_words_reason_alike({ share: formatNumber(Math.round(alike * 100)) })] : []),
  ];
  return reasons.length > 0 ? reasons : [m.memory_words_reason_others()];
}
