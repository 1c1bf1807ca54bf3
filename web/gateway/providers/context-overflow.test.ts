import { describe, expect, it } from 'vitest';
import { readChunk } from './chunk.ts';
import { z } from '#shared/rpc/zod.ts';
import { toGoogleError } from './google-errors.ts';
import { toStatusError, readStreamFault } from './upstream-errors.ts';
import { ProviderError } from './provider.ts';

const json = (status: number, body: unknown): [Response, string] => [new Response(null, { status }), JSON.stringify(body)];

describe('a prompt that exceeds the context window', () => {
  it.each([
    [400, { error: { message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens.", type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' } }, 128_000], // prettier-ignore
    [400, { error: { message: 'Your input exceeds the context window of this model.', code: 'context_length_exceeded' } }, undefined],
    [400, { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' } }, 200_000], // prettier-ignore
    [400, { type: 'error', error: { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length' } }, 200_000], // prettier-ignore
    [400, { error: { code: 400, message: 'The input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).', status: 'INVALID_ARGUMENT' } }, 1_048_576], // prettier-ignore
    [400, { error: { code: 400, message: 'The input token count exceeds the maximum number of tokens allowed 1048575.', status: 'INVALID_ARGUMENT' } }, 1_048_575], // prettier-ignore
    [400, { error: 'prompt too long; exceeded max context length by 4 tokens' }, undefined],
    [500, { error: 'the input length exceeds the context length' }, undefined],
    [400, { error: { code: 400, message: 'the request exceeds the available context size. try increasing it', type: 'exceed_context_size_error', n_ctx: 4096 } }, undefined], // prettier-ignore
    [400, { object: 'error', message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length' }, 32_768], // prettier-ignore
    [400, { error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens." }, 131_072],
    [400, { detail: 'length of prompt_tokens (163280) must be less than max_seq_len (32768).' }, 32_768],
  ])('is known by HTTP %i %j', (status, body, contextTokens) => {
    expect(toStatusError('It', ...json(status, body), 0).contextOverflow).toEqual(contextTokens === undefined ? {} : { contextTokens });
    expect(toGoogleError('It', ...json(status, body), 0).contextOverflow).toBeDefined();
  });

  it.each([
    [429, { error: { message: 'Request too large for gpt on tokens per min (TPM): Limit 10000. This model\'s maximum context length is 8192', code: 'rate_limit_exceeded' } }], // prettier-ignore
    [400, { error: { message: 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens' } }],
    [400, { error: { message: 'Invalid value: the name of the tool is too long' } }],
    [401, { error: { message: 'No such key' } }],
  ])('is not reported for HTTP %i %j', (status, body) => {
    expect(toStatusError('It', ...json(status, body), 0).contextOverflow).toBeUndefined();
  });

  it('is known in the midst of a stream', () => {
    const data = JSON.stringify({ error: { message: 'It is too much', code: 'context_length_exceeded' } });
    try {
      readChunk('It', data, { schema: z.object({}), fault: readStreamFault });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject({ contextOverflow: {} });
    }
  });
});
