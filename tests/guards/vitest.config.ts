import { join } from 'node:path';
import base from '../../vitest.config.ts';

/** As long as a test may take that waits for what a missing guard lets through. */
const TEST_TIMEOUT_MS = 20_000;

// Unit tests, and end-to-end tests as they are named: nothing is built or warmed up first. A test that waits for an approval or a refusal fails when its time is over.
export default {
  ...base,
  root: join(import.meta.dirname, '../..'),
  test: {
    ...base.test,
    include: [...(base.test?.include ?? []), 'tests/{e2e,faults}/**/*.test.ts'],
    globalSetup: [],
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
  },
};
