import { afterEachTest } from '../each-test.ts';
import { conforming, refuseMisfits } from './conforming.ts';

const misfits = new Set<string>();
afterEachTest.add(() => {
  try {
    refuseMisfits(misfits);
  } finally {
    misfits.clear();
  }
});

/** `fetch`, for the `openai` package too: a test in which an answer of `/v1` is not as the public reference has it fails. */
export const checkedFetch: typeof fetch = async (input, init) => {
  const { method, url, headers } = new Request(input, { ...init, body: null });
  return conforming({ method, url, headers }, await fetch(input, init), misfits);
};

/** Answers of a handler, checked alike. */
export const checkedAnswer = (request: Request, answer: Response): Promise<Response> => conforming(request, answer, misfits);
