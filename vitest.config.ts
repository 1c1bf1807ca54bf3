import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './tests/runner/slowest-first.ts';
import { compileMessages } from './web/compile-messages.ts';

await compileMessages();

// Unit tests: Node, no build. Many tests wait for processes and timers, so there are more workers than cores. Files share a worker, because
// a process per file would take longer than the tests (tests/setup.ts).
export default defineConfig({
  define: { __PERCH_BUILD__: JSON.stringify('test'), __PERCH_VERSION__: JSON.stringify('0.0.0'), __PERCH_DEMO__: 'false' },
  test: {
    setupFiles: 'tests/setup.ts',
    globalSetup: 'tests/warm-browser.ts',
    include: ['{shared,web,bridge}/**/*.test.ts', 'tests/{unit,core,vault,runner}/**/*.test.ts'],
    exclude: ['**/*.browser.test.ts', 'node_modules/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: SlowestFirst },
    isolate: false,
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
  },
});
