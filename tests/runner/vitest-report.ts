import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

export interface TestFailure {
  file: string;
  /** Full name of the test; undefined if the file as a whole failed. */
  test?: string;
  /** First lines of the error messages. */
  messages: string[];
}

interface SkippedTest {
  file: string;
  test: string;
}

/** Result of one step of the suite. */
export interface StepResult {
  passed: number;
  failed: number;
  failures: TestFailure[];
  skipped: SkippedTest[];
  /** Wall time of each test file. */
  files: { file: string; seconds: number }[];
}

/** The part of Vitest's JSON report that is read here. */
const vitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string(), failureMessages: z.array(z.string()).nullish() })),
    }),
  ),
});

/**
 * Reads Vitest's JSON report. Counted as one failure each: a file that failed without a failed test (it did not load, or a hook threw), and
 * a run that wrote no report, ran no test (unless it `mayBeEmpty`), or exited with an error without naming a test.
 */
export function parseVitestReport(report: unknown, exitCode: number, root = '', mayBeEmpty = false): StepResult {
  const parsed = vitestReport.safeParse(report);
  if (!parsed.success) return { passed: 0, failed: 1, failures: [], skipped: [], files: [] };
  const { numPassedTests, numFailedTests } = parsed.data;
  const results = parsed.data.testResults.map((result) => ({
    ...result,
    file: root !== '' && result.name.startsWith(root) ? result.name.slice(root.length + 1) : result.name,
  }));
  const broken = results.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = numFailedTests + broken.length;
  const failures: TestFailure[] = results.flatMap(({ file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({ file, test: fullName.trim(), messages: (failureMessages ?? []).map(firstLines) })),
  );
  return {
    passed: numPassedTests,
    failed: failed === 0 && (exitCode !== 0 || (numPassedTests === 0 && !mayBeEmpty)) ? 1 : failed,
    failures: [...failures, ...broken.map(({ file, message }) => ({ file, messages: message ? [firstLines(message)] : [] }))],
    skipped: results.flatMap(({ file, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'skipped' || status === 'pending' || status === 'todo')
        .map(({ fullName }) => ({ file, test: fullName.trim() })),
    ),
    files: results.map(({ file, startTime, endTime }) => ({ file, seconds: (endTime - startTime) / 1000 })),
  };
}

/** A skipped test's name contains the reason: `…: nats-server is not installed here`, or `… (skipped: no GGUF runtime)`. */
const REASON = /(?:: |\()((?:skipped|[^:()]*\bnot installed|[^:()]* here$)[^()]*)\)?/;

/** Groups skipped tests by reason, largest group first. A test without a reason gets that of another test in its file. */
export function groupSkipped(skipped: readonly SkippedTest[]): { reason: string; tests: number; files: string[] }[] {
  const reasonIn = (test: string): string | undefined => REASON.exec(test)?.[1];
  const byFile = new Map<string, string>();
  for (const { file, test } of skipped) {
    const reason = reasonIn(test);
    if (reason !== undefined && !byFile.has(file)) byFile.set(file, reason);
  }
  const groups = new Map<string, { tests: number; files: Set<string> }>();
  for (const { file, test } of skipped) {
    const reason = reasonIn(test) ?? byFile.get(file) ?? `no reason given, e.g. “${test}”`;
    const group = groups.get(reason) ?? { tests: 0, files: new Set() };
    groups.set(reason, { tests: group.tests + 1, files: group.files.add(file) });
  }
  return [...groups].map(([reason, { tests, files }]) => ({ reason, tests, files: [...files] })).sort((a, b) => b.tests - a.tests);
}

const MAX_LINES = 12;
const firstLines = (message: string): string => stripVTControlCharacters(message).split('\n').slice(0, MAX_LINES).join('\n    ');
