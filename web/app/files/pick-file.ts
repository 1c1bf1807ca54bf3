import { toSafeFileName } from '#shared/file-name.ts';
import { m } from '../i18n/messages.ts';
import type { PickedFile } from '../state/page-db.ts';

/** Image types that every browser decodes. */
const IMAGE_TYPE = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;

/**
 * Converts a file to the form in which a message carries it. Returns a sentence for the person instead if it is unreadable, or not the
 * picture that its type claims.
 */
export async function toPickedFile(file: File): Promise<PickedFile | string> {
  const filename = file.name === '' ? 'pasted' : toSafeFileName(file.name);
  const content = await toBase64(file).catch(() => null);
  if (content === null) return m.chat_file_unreadable({ name: filename });
  if (IMAGE_TYPE.test(file.type) && !(await isDecodableImage(file))) return m.chat_no_picture({ name: filename });
  return { id: crypto.randomUUID(), filename, mimeType: file.type || 'application/octet-stream', size: file.size, content };
}

async function isDecodableImage(file: File): Promise<boolean> {
  try {
    (await createImageBitmap(file)).close();
    return true;
  } catch {
    return false;
  }
}

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
