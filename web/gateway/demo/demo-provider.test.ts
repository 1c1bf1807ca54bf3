import { expect, it } from 'vitest';
import { createDemoFetch } from './demo-fetch.ts';
import { PROVIDER_URL } from './demo-provider.ts';

it('counts a picture as models do, not as the text that it is sent as', async () => {
  const url = `data:image/png;base64,${'A'.repeat(100_000)}`;
  const content = [
    { type: 'text', text: 'What is wrong on this page?' },
    { type: 'image_url', image_url: { url } },
  ];
  const body = JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content }] });
  const response = await createDemoFetch()(`${PROVIDER_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: new AbortController().signal,
  });
  const { usage } = (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number } };
  expect(usage.prompt_tokens).toBeGreaterThan(500);
  expect(usage.prompt_tokens).toBeLessThan(1500);
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
});
