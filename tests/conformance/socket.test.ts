import { afterAll, beforeAll, describe } from 'vitest';
import { connectOutside } from '../e2e/outside-client.ts';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { verifies } from '../requirements.ts';
import { FAILURE_STEPS } from './failure-steps.ts';
import { STEPS } from './conformance-steps.ts';
import { runSteps, runInvalidCalls } from './run-steps.ts';

let perch: Perch;
beforeAll(async () => {
  perch = await startPerch({ host: 'headless' });
  using outside = await connectOutside(perch);
  await outside.client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
});
afterAll(() => perch?.[Symbol.asyncDispose]());

describe('every method, over a WebSocket, the bridge and a worker in Chromium', () => {
  verifies('methods/conform', 'answers in the form of its contract', async () => {
    using outside = await connectOutside(perch);
    await runSteps(outside.client, STEPS);
  });

  verifies('methods/fail', 'with each code that its contract has', async () => {
    using outside = await connectOutside(perch);
    await runSteps(outside.client, FAILURE_STEPS);
  });

  verifies('methods/refuse', 'refuses a wrong type for each param, and an unknown param', async () => {
    using outside = await connectOutside(perch);
    await runInvalidCalls(outside.client);
  });
});
