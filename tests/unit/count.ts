import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

export interface Count {
  passed: number;
  failed: number;
  /** Of what has failed, where it has one, with how its message begins. */
  names?: string[];
}

/** What is read of Vitest's JSON report. */
const vitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string(), failureMessages: z.array(z.string()).optional() })),
    }),
  ),
});

/**
 * Counts a Vitest run. A file that failed without a failed test (it did not load, or a hook threw) is one failure; so is a run that wrote
 * no report, found no test, or ended badly without saying which.
 */
export function countVitest(report: unknown, exitCode: number): Count {
  const parsed = vitestReport.safeParse(report);
  if (!parsed.success) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = parsed.data;
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = numFailedTests + broken.length;
  const names = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages = [] }) => [`${name}: ${fullName.trim()}`, ...failureMessages.map(beginning)].join('\n    ')),
  );
  return {
    passed: numPassedTests,
    failed: failed === 0 && (exitCode !== 0 || numPassedTests === 0) ? 1 : failed,
    names: [...names, ...broken.map(({ name }) => name)],
  };
}

const MOST_LINES = 12;
const beginning = (message: string): string => stripVTControlCharacters(message).split('\n').slice(0, MOST_LINES).join('\n    ');
