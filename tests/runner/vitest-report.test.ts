import { expect, test } from 'vitest';
import { groupSkipped, parseVitestReport } from './vitest-report.ts';

const file = (status: string, ...tests: string[]): unknown => ({
  name: `/root/${tests.join('-')}.test.ts`,
  status,
  startTime: 1000,
  endTime: 3500,
  assertionResults: tests.map((status, at) => ({
    status,
    fullName: ` test ${at}`,
    failureMessages: status === 'failed' ? ['\x1b[31mwrong\nhere'] : [],
  })),
});

test('passed, failed and skipped tests are counted, with the time of each file', () => {
  const report = {
    numPassedTests: 2,
    numFailedTests: 1,
    testResults: [file('failed', 'passed', 'failed'), file('passed', 'passed', 'skipped')],
  };
  expect(parseVitestReport(report, 1, '/root')).toEqual({
    passed: 2,
    failed: 1,
    failures: [{ file: 'passed-failed.test.ts', test: 'test 1', messages: ['wrong\n    here'] }],
    skipped: [{ file: 'passed-skipped.test.ts', test: 'test 1' }],
    files: [
      { file: 'passed-failed.test.ts', seconds: 2.5 },
      { file: 'passed-skipped.test.ts', seconds: 2.5 },
    ],
  });
});

test('a file that does not load is one failure', () => {
  const report = { numPassedTests: 1, numFailedTests: 0, testResults: [file('failed'), file('passed', 'passed')] };
  expect(parseVitestReport(report, 1, '/root')).toMatchObject({ passed: 1, failed: 1, failures: [{ file: '.test.ts', messages: [] }] });
});

test('no report, no test, and an error exit without a failed test are failures', () => {
  expect(parseVitestReport(undefined, 0)).toMatchObject({ passed: 0, failed: 1 });
  expect(parseVitestReport({ numPassedTests: 0, numFailedTests: 0, testResults: [] }, 0)).toMatchObject({ passed: 0, failed: 1 });
  expect(parseVitestReport({ numPassedTests: 0, numFailedTests: 0, testResults: [] }, 0, '', true)).toMatchObject({ failed: 0 });
  expect(parseVitestReport({ numPassedTests: 3, numFailedTests: 0, testResults: [] }, 1)).toMatchObject({ passed: 3, failed: 1 });
});

test('skipped tests are grouped by the reason in their names, or in that of another test of their file', () => {
  expect(
    groupSkipped([
      { file: 'a', test: 'vault.cluster/faults: nats-server is not installed here' },
      { file: 'a', test: 'a cluster that fails: comes back' },
      { file: 'b', test: 'vault.cluster: nats-server is not installed here' },
      { file: 'c', test: 'local models (skipped: no runtime) answers' },
      { file: 'd', test: 'something else' },
    ]),
  ).toEqual([
    { reason: 'nats-server is not installed here', tests: 3, files: ['a', 'b'] },
    { reason: 'skipped: no runtime', tests: 1, files: ['c'] },
    { reason: 'no reason given, e.g. “something else”', tests: 1, files: ['d'] },
  ]);
});
