import { dreamMonth } from './dreaming/dream-month.ts';
import { type Figure, toMaxBar, toMinBar } from './figures.ts';

const DAYS = 30;
const QUICK_DAYS = 7;
const SEED = 1;

/**
 * A simulated month with nightly dreaming, beside the same conversations without it: held-out questions, which the exam does not contain,
 * answered by recall by words alone (NOTES.md, "Dreaming").
 */
export async function benchDreaming({ quick }: { quick: boolean }): Promise<Figure[]> {
  const { days, untrusted, leaked, promoted } = await dreamMonth({ seed: SEED, days: quick ? QUICK_DAYS : DAYS });
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) throw new Error('no day was simulated');
  if (leaked.length > 0) throw new Error(`the exam contains held-out questions: ${leaked.join('; ')}`);
  if (process.env['PERCH_BENCH_LIST'])
    for (const { day, before, after, undreamt, sameQuestions, exam } of days)
      console.error(
        `day ${day}: ${before.accuracy.toFixed(1)} → ${after.accuracy.toFixed(1)} (without dreaming ${undreamt.accuracy.toFixed(1)}; questions of the day before ${sameQuestions.then.toFixed(1)} → ${sameQuestions.now.toFixed(1)}), tokens ${after.tokens} of ${undreamt.tokens}, exam ${JSON.stringify(exam)}`,
      );
  const overNight = Math.max(0, ...days.map(({ before, after }) => before.accuracy - after.accuracy));
  const fromDayToDay = Math.max(0, ...days.map(({ sameQuestions: { then, now } }) => then - now));
  const sinceStart = last.after.accuracy - first.before.accuracy;
  const overUndreamt = last.after.accuracy - last.undreamt.accuracy;
  const savedTokens = 100 * (1 - last.after.tokens / last.undreamt.tokens);
  return [
    { what: `dreaming: held-out questions after ${days.length} days`, unit: '', ours: last.questions },
    { what: '  right before the first night', unit: '%', ours: first.before.accuracy },
    {
      what: '  right at the end',
      unit: '%',
      ours: last.after.accuracy,
      floor: { name: 'not dreaming', value: last.undreamt.accuracy },
    },
    { what: '    more than at the start', unit: 'points', ours: sinceStart, bar: toMinBar(sinceStart, 10, 'points') },
    { what: '    more than without dreaming', unit: 'points', ours: overUndreamt, bar: toMinBar(overUndreamt, 10, 'points') },
    { what: '  largest loss in one night', unit: 'points', ours: overNight, bar: toMaxBar(overNight, 1, 'points') },
    {
      what: '  largest loss since the day before, with its new facts',
      unit: 'points',
      ours: fromDayToDay,
      bar: toMaxBar(fromDayToDay, 1, 'points'),
    },
    {
      what: '  tokens of recall for the same questions',
      unit: '',
      ours: last.after.tokens,
      floor: { name: 'not dreaming', value: last.undreamt.tokens },
      ratio: last.after.tokens / last.undreamt.tokens,
    },
    { what: '    fewer', unit: '%', ours: savedTokens, bar: toMinBar(savedTokens, 30, '%') },
    { what: '  promotions', unit: '', ours: promoted },
    { what: '  memories from untrusted text', unit: '', ours: untrusted.length, bar: toMaxBar(untrusted.length, 0, '') },
  ];
}
