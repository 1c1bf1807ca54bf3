import type { Clock } from '../../shared/async/clock.ts';
import { type PlatformRequest, startPlatformServer } from './platform-server.ts';

export const TELEGRAM_TOKEN = '123456:AAbb-ccDDeeFFggHHiiJJkkLLmmNNooPPqq';
const BOT_USER = { id: 123456, is_bot: true, username: 'perch_test_bot', first_name: 'Perch' };

/** A local server that responds like Telegram's Bot API (https://core.telegram.org/bots/api). */
export async function startTelegramServer(clock: Pick<Clock, 'after'>) {
  const updates: { update_id: number; message?: Record<string, unknown>; callback_query?: Record<string, unknown> }[] = [];
  const answers: { callback_query_id: string; text?: string }[] = [];
  const edits: { chat_id: number; message_id: number; text: string; reply_markup?: unknown }[] = [];
  /** Updates that are sent repeatedly, even if confirmed. */
  const repeats: typeof updates = [];
  const sent: { chat_id: number; text: string; reply_parameters?: unknown }[] = [];
  const files: string[] = [];
  const voices: string[] = [];
  /** Files that the bot can download, by id, which is their path too. */
  const downloads = new Map<string, Buffer>();
  let lastUpdate = 900;
  let lastMessage = 0;
  let wake = (): void => {};
  const refuse = (error_code: number, description: string) => ({ status: error_code, json: { ok: false, error_code, description } });
  const ok = (result: unknown) => ({ json: { ok: true, result } });
  const server = await startPlatformServer(async ({ path, body }, signal) => {
    const [, fileToken, filePath = ''] = /^\/file\/bot([^/]+)\/(.+)$/.exec(path) ?? [];
    const download = downloads.get(filePath);
    if (fileToken === TELEGRAM_TOKEN) return download ? { bytes: download } : { status: 404, json: { ok: false, error_code: 404 } };
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    if (token !== TELEGRAM_TOKEN) return refuse(401, 'Unauthorized');
    if (method === 'sendDocument' || method === 'sendVoice') {
      (method === 'sendVoice' ? voices : files).push(body.toString('latin1'));
      return ok({ message_id: ++lastMessage });
    }
    const params = JSON.parse(body.toString() || '{}') as Record<string, never>;
    switch (method) {
      case 'getMe':
        return ok(BOT_USER);
      case 'getUpdates': {
        const { offset = 0, timeout = 0, limit = 100 } = params;
        // Updates before the offset are confirmed and removed.
        while (updates[0] && updates[0].update_id < offset) updates.shift();
        if (updates.length + repeats.length === 0 && timeout > 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            signal.addEventListener('abort', () => resolve(), { once: true });
            clock.after(timeout * 1000, resolve);
          });
        }
        return ok([...repeats, ...updates].slice(0, limit));
      }
      case 'sendMessage': {
        const { chat_id, text } = params;
        if (String(text).length > 4096) return refuse(400, 'Bad Request: message is too long');
        if (chat_id === 403) return refuse(403, 'Forbidden: bot was blocked by the user');
        sent.push(params as unknown as (typeof sent)[number]);
        return ok({ message_id: ++lastMessage, date: 0, chat: { id: chat_id, type: 'private' }, text });
      }
      case 'getFile':
        if (!downloads.has(params['file_id'] ?? '')) return refuse(400, 'Bad Request: wrong file_id');
        return ok({ file_id: params['file_id'], file_path: params['file_id'] });
      case 'answerCallbackQuery':
        answers.push(params as unknown as (typeof answers)[number]);
        return ok(true);
      case 'editMessageText':
        edits.push(params as unknown as (typeof edits)[number]);
        return ok({ message_id: params['message_id'] });
      case 'sendChatAction':
        return ok(true);
      default:
        return refuse(404, 'Not Found');
    }
  });
  return Object.assign(server, {
    sent,
    files,
    voices,
    downloads,
    /** Simulates a message to the bot. */
    write(
      text: string | undefined,
      { id = 7, username = 'ada', chat = id, more = {} }: { id?: number; username?: string; chat?: number; more?: object } = {},
    ): number {
      const update_id = ++lastUpdate;
      updates.push({
        update_id,
        message: {
          message_id: ++lastMessage,
          date: 1_795_176_000 + update_id,
          chat: chat < 0 ? { id: chat, type: 'supergroup', title: 'The group' } : { id: chat, type: 'private' },
          from: { id, is_bot: false, username, first_name: 'Ada' },
          ...(text === undefined ? {} : { text }),
          ...more,
        },
      });
      wake();
      return update_id;
    },
    /** Simulates a press of a button under a message. */
    press(data: string, { id = 7, chat = id, message = 1 }: { id?: number; chat?: number; message?: number } = {}): void {
      const update_id = ++lastUpdate;
      const callback_query = {
        id: `press:${update_id}`,
        from: { id, is_bot: false, username: 'ada' },
        message: { message_id: message, chat: { id: chat, type: chat < 0 ? 'supergroup' : 'private' } },
        data,
      };
      updates.push({ update_id, callback_query });
      wake();
    },
    /** Texts that ended presses, and edited messages. */
    answers,
    edits,
    updates,
    repeats,
    methods: (): string[] => server.asked.map(({ path }) => path.split('/').at(-1) ?? ''),
  });
}

export const isCall =
  (method: string) =>
  ({ path }: PlatformRequest): boolean =>
    path.endsWith(`/${method}`);
