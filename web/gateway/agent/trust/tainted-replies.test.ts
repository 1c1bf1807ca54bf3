import { expect } from 'vitest';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { ContentLabels } from './content-labels.ts';
import { TaintedReplies } from './tainted-replies.ts';

verifies('injection/labels', 'are kept for the newest replies to programs, and wait for no review', async () => {
  await using gw = await createTestGateway();
  let now = systemClock.now();
  const labels = new ContentLabels({ vault: gw.vault, clock: { now: () => now++ } });
  const replies = new TaintedReplies(labels, 8);
  for (let i = 0; i < 9; i++) await replies.add([`Reply ${i}`, ` Reply\n${i} `, ''], ['web:example.com']);
  const known = await Promise.all(Array.from({ length: 9 }, (_, i) => replies.getSources(`Reply ${i}`)));
  expect(known.map(({ length }) => length)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1]);
  expect(await labels.listReviewed()).toEqual([]);
  const { client } = await gw.client();
  expect((await client.call('review.list', {})).items).toEqual([]);
});
