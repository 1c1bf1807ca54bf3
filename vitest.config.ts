import { defineConfig } from 'vitest/config';
import { compileWords } from './web/words/compile.ts';

await compileWords();

// Unit tests: Node, no build, no browser. What needs those is under tests/ and run by tests/run.ts.
export default defineConfig({
  define: { __PERCH_BUILD__: JSON.stringify('test'), __PERCH_VERSION__: JSON.stringify('0.0.0'), __PERCH_DEMO__: 'false' },
  test: {
    setupFiles: 'tests/property-seed.ts',
    globalSetup: 'tests/warm-browser.ts',
    include: ['{shared,web,bridge}/**/*.test.ts', 'tests/{unit,core,vault}/**/*.test.ts'],
    exclude: ['**/*.browser.test.ts', 'node_modules/**'],
    testTimeout: 20_000,
  },
});
