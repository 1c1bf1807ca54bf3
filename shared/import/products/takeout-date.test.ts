import { expect, it } from 'vitest';
import { parseTakeoutDate } from './takeout-date.ts';

const read = (line: string): string | null | undefined => {
  const time = parseTakeoutDate(line);
  return typeof time === 'number' ? new Date(time).toISOString() : time;
};

it.each([
  ['Jul 25, 2026, 11:07:57 PM PDT', '2026-07-26T06:07:57.000Z'],
  ['May 19, 2026, 7:07:02\u202fPM GMT-03:00', '2026-05-19T22:07:02.000Z'],
  ['Jan 1, 2026, 12:00:00 AM UTC', '2026-01-01T00:00:00.000Z'],
  ['Jan 1, 2026, 12:00:00 PM UTC', '2026-01-01T12:00:00.000Z'],
  ['18 Sept 2025, 12:02:52 CET', '2025-09-18T11:02:52.000Z'],
  ['10 de mai. de 2026, 03:46:09 BRT', '2026-05-10T06:46:09.000Z'],
  ['4 juli 2026 09:15:00 CEST', '2026-07-04T07:15:00.000Z'],
  ['25.07.2026, 23:07:57 MESZ', '2026-07-25T21:07:57.000Z'],
  ['25 juil. 2026, 11:07:57 CEST', '2026-07-25T09:07:57.000Z'],
  ['25 jul 2026, 11:07:57 CEST', '2026-07-25T09:07:57.000Z'],
  ['25 lug 2026, 11:07:57 CEST', '2026-07-25T09:07:57.000Z'],
  ['25 lip 2026, 11:07:57 CEST', '2026-07-25T09:07:57.000Z'],
  ['25 июл. 2026 г., 11:07:57 MSK', '2026-07-25T08:07:57.000Z'],
  ['2026年6月19日 12:23:08 CST', '2026-06-19T04:23:08.000Z'],
  ['2026/06/19 12:23:08 JST', '2026-06-19T03:23:08.000Z'],
  ['2026. 7. 25. 오후 11:07:57 KST', '2026-07-25T14:07:57.000Z'],
  ['2026年7月25日 下午11:07:57 [GMT+08:00]', '2026-07-25T15:07:57.000Z'],
  ['٢٥‏/٠٧‏/٢٠٢٦، ١١:٠٧:٥٧ م UTC', '2026-07-25T23:07:57.000Z'],
  ['25 thg 7, 2026, 11:07:57 GMT+7', '2026-07-25T04:07:57.000Z'],
  ['25 ก.ค. 2569 11:07:57 UTC', '2026-07-25T11:07:57.000Z'],
  ['25 Xyzuary 2026, 11:07:57 CET', null],
  ['25.07.2026 klo 11.07.57 UTC', '2026-07-25T11:07:57.000Z'],
  ['What is bread?', undefined],
  ['We met on the evening of the 3 March 2026 at 10:00:00', undefined],
  ['Meet me at 10:00:00', undefined],
  ['In 2026, 3 of 4 at 10:00:00 or 11:00:00', undefined],
  [`Jul 25, 2026, 11:07:57 PM PDT${' and much more text'.repeat(5)}`, undefined],
])('%s', (line, expected) => {
  expect(read(line)).toBe(expected);
});
