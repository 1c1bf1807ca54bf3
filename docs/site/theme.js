// Before the first paint, so that a chosen theme does not flash.
try {
  const theme = localStorage.getItem('theme');
  if (theme !== null) document.documentElement.dataset.theme = theme;
} catch {
  // Blocked storage: the system's theme.
}
