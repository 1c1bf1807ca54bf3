const MAX_CHARS = 1_000;

/** What screen readers are told: finished replies, not every word as it comes. */
class Announcer {
  text = $state('');

  say(text: string): void {
    const plain = text.replace(/[`*_#>|]/g, '').trim();
    this.text = plain.length > MAX_CHARS ? `${plain.slice(0, MAX_CHARS)} …` : plain;
  }
}

export const announcer = new Announcer();
