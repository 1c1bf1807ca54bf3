import { m } from '#app/i18n/messages.ts';
import { loadReplyText } from '#app/state/chat-items.ts';
import { copyText } from '#kit/copy-text.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import type { ListedChat } from './listed-chat.ts';

/** Copies the newest reply of a chat, if it has one. */
export async function copyNewestReply(chat: Pick<ListedChat, 'items' | 'fetchText'> | null): Promise<void> {
  const segments = () => chat?.items.findLast((item) => item.kind === 'reply')?.segments ?? [];
  if (chat && segments().length > 0 && (await copyText(loadReplyText(segments, (id) => chat.fetchText(id)))))
    toasts.show(m.chat_last_reply_copied());
}

/** Copies the last block of code on the page. */
export async function copyNewestCode(): Promise<void> {
  const code = [...document.querySelectorAll('[data-code] code')].at(-1)?.textContent;
  if (code && (await copyText(code))) toasts.show(m.chat_last_code_copied());
}
