import { afterAll, beforeAll, describe } from 'vitest';
import { connectOutside } from '../e2e/outside.ts';
import { type Perch, startPerch } from '../e2e/harness.ts';
import { verifies } from '../requirements.ts';
import { FAILURES } from './failures.ts';
import { STEPS } from './steps.ts';
import { takeSteps, takeWrongSteps } from './take.ts';

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
    await takeSteps(outside.client, STEPS);
  });

  verifies('methods/fail', 'with each code that its contract has', async () => {
    using outside = await connectOutside(perch);
    await takeSteps(outside.client, FAILURES);
  });

  verifies('methods/refuse', 'refuses a wrong type for each param, and an unknown param', async () => {
    using outside = await connectOutside(perch);
    await takeWrongSteps(outside.client);
  });
});
