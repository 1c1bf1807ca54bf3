import { gateway } from '#lib/gateway/connection.svelte.ts';
import { problemOf } from '#lib/errors.ts';
import { m } from '#lib/i18n/later.ts';

/** Whether pictures from elsewhere can be fetched: by the bridge, for pages may ask nobody else. */
export const fetchesPictures = (): boolean => gateway.bridge.linked && gateway.bridge.state !== 'stopped';

/** Puts the picture into the link that has its address. Where it cannot be had, what is behind the link says why. It leads there from then on. */
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
    note.textContent = problemOf(error, m.reply_doing_load_picture()).message;
    link.after(' ', note);
  } finally {
    link.removeAttribute('aria-busy');
  }
}
