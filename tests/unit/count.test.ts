import { expect, test } from 'vitest';
import { countVitest } from './count.ts';

const file = (status: string, ...tests: string[]): unknown => ({
  name: `${tests.join('-')}.test.ts`,
  status,
  assertionResults: tests.map((status, at) => ({
    status,
    fullName: ` test ${at}`,
    failureMessages: status === 'failed' ? ['\x1b[31mwrong\nhere'] : [],
  })),
});

test('passed and failed tests are counted', () => {
  const report = { numPassedTests: 2, numFailedTests: 1, testResults: [file('failed', 'passed', 'failed'), file('passed', 'passed')] };
  expect(countVitest(report, 1)).toEqual({ passed: 2, failed: 1, names: ['passed-failed.test.ts: test 1\n    wrong\n    here'] });
});

test('a file that does not load is a failure of its own', () => {
  expect(countVitest({ numPassedTests: 1, numFailedTests: 0, testResults: [file('failed'), file('passed', 'passed')] }, 1)).toEqual({
    passed: 1,
    failed: 1,
    names: ['.test.ts'],
  });
});

test('no report, no test, and a bad end without a failed test are failures', () => {
  expect(countVitest(undefined, 0)).toEqual({ passed: 0, failed: 1 });
  expect(countVitest({ numPassedTests: 0, numFailedTests: 0, testResults: [] }, 0)).toEqual({ passed: 0, failed: 1, names: [] });
  expect(countVitest({ numPassedTests: 3, numFailedTests: 0, testResults: [] }, 1)).toEqual({ passed: 3, failed: 1, names: [] });
});
