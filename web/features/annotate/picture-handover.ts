import { goto } from '$app/navigation';

/** A picture on its way to a new drawing. */
interface PictureHandover {
  readonly picture: Blob;
  /** Name for the title. */
  readonly name: string;
}

let pendingHandover: PictureHandover | undefined;

/** Opens a new drawing on a picture, from anywhere in the app: a chat, a tool's screenshot, what another program shared. */
export async function openInAnnotate(picture: Blob, name: string): Promise<void> {
  pendingHandover = { picture, name };
  await goto('/annotate?new');
}

/** Returns the handed-over image once. */
export function consumeHandover(): PictureHandover | undefined {
  const handover = pendingHandover;
  pendingHandover = undefined;
  return handover;
}
