// The command line.

export default function CommandLinePage() {
  return <p class="notice">…</p>;
}
