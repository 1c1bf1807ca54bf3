/** Unfinished events of all streams together exceed the limit of `SseScanner`, which can't be used afterwards. */
export class SseOverload extends Error {
  override name = 'SseOverload';
}

/** An event exceeds the limit of its `SseScanner`, which can't be used afterwards. */
export class SseTooLarge extends Error {
  override name = 'SseTooLarge';
}
