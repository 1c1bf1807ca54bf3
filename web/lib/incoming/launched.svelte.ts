import { goto } from '$app/navigation';
import { plainlyNamed } from './plainly-named.ts';
import { SHARE } from './shared-form.ts';

/** Files that the installed app was opened with, until the page takes them. */
class Launched {
  files = $state.raw<readonly File[]>([]);

  take(): readonly File[] {
    const { files } = this;
    this.files = [];
    return files;
  }
}

export const launched = new Launched();

/** Follows launches of the installed app that come to this window: to an address, or with files. */
export function followLaunches(): void {
  window.launchQueue?.setConsumer(({ targetURL, files = [] }) => void follow(targetURL, files));
}

async function follow(targetURL: string | undefined, handles: NonNullable<Launch['files']>): Promise<void> {
  // A file that no longer exists, or may not be read, does not block the others.
  const read = await Promise.allSettled(handles.map((handle) => handle.getFile()));
  const files = read.flatMap((each) => (each.status === 'fulfilled' ? [plainlyNamed(each.value)] : []));
  launched.files = [...launched.files, ...files];
  const target = targetURL ? URL.parse(targetURL) : null;
  const href = files.length > 0 ? SHARE : target && target.pathname + target.search + target.hash;
  if (href && href !== location.pathname + location.search + location.hash) await goto(href);
}
