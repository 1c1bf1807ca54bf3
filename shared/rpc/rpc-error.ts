import { MAX_ERROR_CHARS, truncateMiddle } from '../truncate-text.ts';

/** All error codes. */
export const ERROR_CODES = [
  'AUTH_REQUIRED',
  'NOT_FOUND',
  'INVALID_PARAMS',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'METHOD_NOT_FOUND',
  'ALREADY_EXISTS',
  'ABORTED',
  'NOT_IMPLEMENTED',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error in a response frame. */
export interface ErrorShape {
  code: ErrorCode;
  message: string;
  details?: Record<string, unknown>;
  retryable?: boolean;
  retryAfterMs?: number;
}

/** An error for the caller to see. The dispatcher turns any other error into `INTERNAL_ERROR`. */
export class RpcError extends Error {
  readonly code: ErrorCode;
  readonly extra: Omit<ErrorShape, 'code' | 'message'>;

  constructor(code: ErrorCode, message: string, extra: Omit<ErrorShape, 'code' | 'message'> = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RpcError';
    this.code = code;
    this.extra = extra;
  }

  toShape(): ErrorShape {
    return { code: this.code, message: truncateMiddle(this.message, MAX_ERROR_CHARS), ...this.extra };
  }

  static from(shape: ErrorShape): RpcError {
    const { code, message, ...extra } = shape;
    return new RpcError(code, message, extra);
  }
}
