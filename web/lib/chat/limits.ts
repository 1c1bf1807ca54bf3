const MB = 1024 * 1024;

/** What a message may carry (decisions, "Chat"): bytes. */
export const ATTACHMENT_LIMITS = { each: 16 * MB, image: 6 * MB, all: 18 * MB, count: 50, messageChars: 500_000 } as const;

interface Sized {
  name: string;
  type: string;
  size: number;
}

/** Why a file cannot join those already attached, as a sentence; null where it can. */
export function refusal(file: Sized, attached: readonly { size: number }[]): string | null {
  const { each, image, all, count } = ATTACHMENT_LIMITS;
  if (file.size === 0) return `${file.name} is empty.`;
  if (file.type.startsWith('image/') && file.size > image)
    return `${file.name} has ${bytes(file.size)}; an image may have 6 MB. Make it smaller and add it again.`;
  if (file.size > each) return `${file.name} has ${bytes(file.size)}; a file may have 16 MB.`;
  const sum = attached.reduce((total, { size }) => total + size, file.size);
  if (sum > all)
    return `With ${file.name} the message would carry ${bytes(sum)}; it may carry 18 MB. Remove a file, or send it in a second message.`;
  if (attached.length >= count) return `A message may carry ${count} files.`;
  return null;
}

/** A size for people: `3.4 MB`. */
export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let value = size / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
