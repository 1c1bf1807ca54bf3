const MAX_ANNOUNCED_CHARS = 1_000;
/** Maximum characters of a reply before mark-up is removed; enough for an announcement of the maximum length. */
const MAX_MARKDOWN_CHARS = 4 * MAX_ANNOUNCED_CHARS;

/** Text of the page's live region: finished replies rather than each word as it streams. */
class Announcer {
  text = $state('');
  #announcementCount = 0;

  announce(text: string): void {
    this.#announcementCount++;
    const trimmed = text.trim();
    const short = trimmed.length > MAX_ANNOUNCED_CHARS ? `${trimmed.slice(0, MAX_ANNOUNCED_CHARS)} …` : trimmed;
    // Screen readers ignore an unchanged region: a trailing space makes a repeated text differ.
    this.text = short !== '' && short === this.text ? `${short}\u00a0` : short;
  }

  /** Announces a reply without mark-up, unless something else is announced while the text is prepared. */
  async announceReply(markdown: string): Promise<void> {
    const announcementId = ++this.#announcementCount;
    const text = markdown.slice(0, MAX_MARKDOWN_CHARS);
    // If the module cannot be loaded (after an update, for example), the text is announced unchanged.
    const spokenText = await import('../speech/speech-text.ts').then(
      ({ toReadableText }) => toReadableText(text),
      () => text,
    );
    if (announcementId === this.#announcementCount) this.announce(spokenText);
  }
}

export const announcer = new Announcer();
