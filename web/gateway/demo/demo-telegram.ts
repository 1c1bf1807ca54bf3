import { http, HttpResponse } from 'msw';
import { MINUTE_MS } from './demo-time.ts';

/** Names under `.invalid` never resolve (RFC 6761, section 6.4). */
export const TELEGRAM_URL = 'https://telegram-demo.invalid';

/** A Telegram server where nobody writes: the demo's channel is connected to it. */
export const telegramHandlers = (): ReturnType<typeof http.get>[] => [
  http.post(`${TELEGRAM_URL}/:bot/getMe`, () => HttpResponse.json({ ok: true, result: { id: 1, username: 'heron_bot' } })),
  http.post(`${TELEGRAM_URL}/:bot/getUpdates`, async ({ request }) => {
    const { timeout } = (await request.json()) as { timeout?: number };
    await waitUntil((timeout ?? 0) * 1000, request.signal);
    return HttpResponse.json({ ok: true, result: [] });
  }),
];

const waitUntil = (waitMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(waitMs, MINUTE_MS));
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
