import { goto } from '$app/navigation';
import { withReadableName } from '#app/incoming/with-readable-name.ts';
import { SHARE_PATH } from '#app/incoming/shared-form.ts';

/** Files that the installed app was opened with, until the page takes them. */
class LaunchFiles {
  files = $state.raw<readonly File[]>([]);

  consume(): readonly File[] {
    const { files } = this;
    this.files = [];
    return files;
  }
}

export const launchFiles = new LaunchFiles();

/** Follows launches of the installed app that come to this window: to an address, or with files. */
export function followLaunches(): void {
  window.launchQueue?.setConsumer(({ targetURL, files = [] }) => void handleLaunch(targetURL, files));
}

async function handleLaunch(targetURL: string | undefined, handles: NonNullable<Launch['files']>): Promise<void> {
  // A file that no longer exists, or may not be read, does not block the others.
  const results = await Promise.allSettled(handles.map((handle) => handle.getFile()));
  const files = results.flatMap((result) => (result.status === 'fulfilled' ? [withReadableName(result.value)] : []));
  launchFiles.files = [...launchFiles.files, ...files];
  const target = targetURL ? URL.parse(targetURL) : null;
  const href = files.length > 0 ? SHARE_PATH : target && target.pathname + target.search + target.hash;
  if (href && href !== location.pathname + location.search + location.hash) await goto(href);
}
