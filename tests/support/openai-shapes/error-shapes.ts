import { z } from '#shared/rpc/zod.ts';

/** The public `ErrorResponse`. Its `type` may be any text there; here it is one of Perch's. */
export const errorResponse = z.strictObject({
  error: z.strictObject({
    message: z.string().min(1),
    type: z.enum([
      'invalid_request_error',
      'unauthorized',
      'forbidden',
      'not_found',
      'model_not_found',
      'rate_limited',
      'insufficient_quota',
      'api_error',
      'unavailable',
      'aborted',
    ]),
    param: z.string().min(1).nullable(),
    code: z.string().min(1).nullable(),
  }),
});
