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

/** `fetch`, for the `openai` package too: a test in which an answer of `/v1` is not as the public reference has it fails. */
export const checkedFetch: typeof fetch = async (input, init) => {
  const { method, url, headers } = new Request(input, { ...init, body: null });
  return checkConformance({ method, url, headers }, await fetch(input, init), mismatches);
};

/** Answers of a handler, checked alike. */
export const createCheckedHandler = (request: Request, answer: Response): Promise<Response> =>
  checkConformance(request, answer, mismatches);
