/**
 * Whether `version` is newer than `reference`, in the order of package versions: `1.2.0-rc.1` precedes `1.2.0`. False if one of them is invalid.
 */
export function isNewerVersion(version: string, reference: string): boolean {
  const [a, b] = [parseVersion(version), parseVersion(reference)];
  if (!a || !b) return false;
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0;
    if (number !== other) return number > other;
  }
  // A prerelease precedes its release.
  if (a.preview === '' || b.preview === '') return a.preview === '' && b.preview !== '';
  return a.preview.localeCompare(b.preview, 'en', { numeric: true }) > 0;
}

function parseVersion(version: string): { numbers: number[]; preview: string } | undefined {
  const [, numbers, preview = ''] = /^v?(\d{1,9}\.\d{1,9}\.\d{1,9})(?:-([\w.-]+))?(?:\+[\w.-]+)?$/.exec(version) ?? [];
  return numbers === undefined ? undefined : { numbers: numbers.split('.').map(Number), preview };
}
