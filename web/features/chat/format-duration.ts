import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';

/** A span of time in words, to the second: `12 s`, `2 min 5 s`. `ms`: milliseconds. */
export function formatDuration(ms: number): string {
  const totalSeconds = Math.round(ms / 1000);
  const [minutes, seconds] = [formatNumber(Math.floor(totalSeconds / 60)), formatNumber(totalSeconds % 60)];
  if (totalSeconds < 60) return m.reply_span_seconds({ seconds });
  return totalSeconds % 60 > 0 ? m.reply_span_minutes_seconds({ minutes, seconds }) : m.reply_span_minutes({ minutes });
}

/** How long a model thought, in words. */
export const formatThinkingTime = (ms: number): string =>
  ms < 1000 ? m.reply_thought_moment() : m.reply_thought_for({ time: formatDuration(ms) });
