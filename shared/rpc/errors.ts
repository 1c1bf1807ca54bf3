import { MAX_MESSAGE, withoutMiddle } from '../cut-short.ts';

/** The closed list of error codes (interface document 1, section 7). */
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

/** An error as it travels (decisions, "Frames and connection"). */
export interface ErrorShape {
  code: ErrorCode;
  message: string;
  details?: Record<string, unknown>;
  retryable?: boolean;
  retryAfterMs?: number;
}

/** A failure that the caller is meant to see. Anything else that is thrown becomes `INTERNAL_ERROR` at one place, the dispatcher. */
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
    return { code: this.code, message: withoutMiddle(this.message, MAX_MESSAGE), ...this.extra };
  }

  static from(shape: ErrorShape): RpcError {
    const { code, message, ...extra } = shape;
    return new RpcError(code, message, extra);
  }
}
