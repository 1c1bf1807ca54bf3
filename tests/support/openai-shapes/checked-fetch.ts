import { afterEachTest } from '../after-each-test.ts';
import { checkConformance, throwOnMismatches } from './conformance-check.ts';

const mismatches = new Set<string>();
afterEachTest.add(() => {
  try {
    throwOnMismatches(mismatches);
  } finally {
    mismatches.clear();
  }
});

/** `fetch`, for the `openai` package too. Fails a test in which a response of `/v1` differs from the public reference. */
export const checkedFetch: typeof fetch = async (input, init) => {
  const { method, url, headers } = new Request(input, { ...init, body: null });
  return checkConformance({ method, url, headers }, await fetch(input, init), mismatches);
};

/** Checks the responses of a handler in the same way. */
export const createCheckedHandler = (request: Request, answer: Response): Promise<Response> =>
  checkConformance(request, answer, mismatches);
