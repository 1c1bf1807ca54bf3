import { gateway } from '../connection/gateway-connection.svelte.ts';
import { toProblem } from '#kit/problems.ts';
import { m } from '../i18n/messages.ts';

/** Whether external pictures can be fetched: by the bridge, since pages may not contact other servers. */
export const canFetchPictures = (): boolean => gateway.bridge.isLinked && gateway.bridge.state !== 'stopped';

/**
 * Replaces the text of the link by the picture at its address. If it cannot be fetched, shows the reason behind the link, which then opens
 * the address.
 */
export async function loadPicture(link: HTMLAnchorElement): Promise<void> {
  link.dataset['asked'] = '';
  link.setAttribute('aria-busy', 'true');
  try {
    const { mimeType, content } = await gateway.call('web.picture', { url: link.href });
    const image = document.createElement('img');
    image.alt = link.textContent;
    image.src = `data:${mimeType};base64,${content}`;
    await image.decode().catch(() => Promise.reject(new Error(m.reply_picture_broken())));
    link.replaceChildren(image);
  } catch (error) {
    const note = document.createElement('span');
    note.className = 'unloaded';
    note.role = 'alert';
    note.textContent = toProblem(error, m.reply_doing_load_picture()).message;
    link.after(' ', note);
  } finally {
    link.removeAttribute('aria-busy');
  }
}
