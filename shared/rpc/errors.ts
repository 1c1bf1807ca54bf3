import { z } from './zod.ts';

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

export const errorShape = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  retryable: z.boolean().optional(),
  retryAfterMs: z.number().optional(),
});
/** An error as it travels (decisions, "Frames and connection"). */
export type ErrorShape = z.infer<typeof errorShape>;

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
    return { code: this.code, message: this.message, ...this.extra };
  }

  static from(shape: ErrorShape): RpcError {
    const { code, message, ...extra } = shape;
    return new RpcError(code, message, extra);
  }
}
