import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findCronProblem } from '#shared/cron/cron-fields.ts';
import { describeCronInEnglish as gatewayWords } from '#shared/cron/cron-in-english.ts';
import { describeCron, validateCron } from './describe-cron.ts';

const field = (least: number, most: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 1, max: 12 }).map((step) => `*/${step}`),
    fc.uniqueArray(fc.integer({ min: least, max: most + 1 }), { minLength: 1, maxLength: 4 }).map((values) => values.join(',')),
  );
const expression = fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)).map((fields) => fields.join(' '));

it('in English the app says schedules as the gateway does', () => {
  const cases = [
    '0 8 * * 1-5',
    '*/15 * * * *',
    '5 */2 * * *',
    '0 * * 6 1',
    '30 7,19 1,15 * *',
    '0 3 22,23,31 1,12 *',
    '0 9 * 7 5,6',
    '0 8 L * *',
    'x',
  ];
  for (const text of cases) expect(describeCron(text)).toBe(gatewayWords(text));
  fc.assert(fc.property(expression, (text) => void expect(describeCron(text)).toBe(gatewayWords(text))));
});

it('reports an expression as invalid exactly if the gateway refuses it', () => {
  expect(['', '* * * *', '60 * * * *', '0 0 30 2 *', '0 8 * * 9', '0 8 * FOO *'].map(validateCron)).toEqual([
    'Enter five fields: minute, hour, day, month, weekday.',
    'Enter five fields: minute, hour, day, month, weekday.',
    'Invalid minute “60”. Use 0 to 59.',
    'This schedule would never run: the date doesn’t exist.',
    'Invalid weekday “9”. Use 0 to 7.',
    'Invalid month “FOO”. Use 1 to 12.',
  ]);
  fc.assert(fc.property(expression, (text) => void expect(validateCron(text) === undefined).toBe(findCronProblem(text) === undefined)));
});
