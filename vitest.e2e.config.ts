import { defineConfig } from 'vitest/config';
import { compileWords } from './web/words/compile.ts';

await compileWords();

// What crosses processes: the real command, a real browser, the packed package. One file at a time, for they share the machine.
export default defineConfig({
  test: {
    setupFiles: 'tests/property-seed.ts',
    include: ['tests/{e2e,faults,vault-e2e,conformance}/**/*.test.ts'],
    globalSetup: ['tests/e2e/build-once.ts', 'tests/warm-browser.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
