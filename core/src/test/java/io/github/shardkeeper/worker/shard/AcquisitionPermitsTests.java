package io.github.shardkeeper.worker.shard;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class AcquisitionPermitsTests {

	private final AcquisitionPermits permits = new AcquisitionPermits(2);

	private final List<String> granted = new ArrayList<>();

	private final AcquisitionPermits.Permit a = permit("a");

	private final AcquisitionPermits.Permit b = permit("b");

	private final AcquisitionPermits.Permit c = permit("c");

	private final AcquisitionPermits.Permit d = permit("d");

	@Test
	void releasedPermitIsGrantedToTheNextInOrder() {
		assertThat(this.a.acquire()).isTrue();
		assertThat(this.b.acquire()).isTrue();
		assertThat(this.c.acquire()).isFalse();
		assertThat(this.d.acquire()).isFalse();
		this.b.release();

		assertThat(this.granted).containsExactly("c");
		assertThat(this.c.acquire()).as("is held").isTrue();
		assertThat(this.d.acquire()).isFalse();
	}

	@Test
	void withdrawnRequestIsSkipped() {
		this.a.acquire();
		this.b.acquire();
		this.c.acquire();
		this.d.acquire();
		this.c.release();
		this.a.release();

		assertThat(this.granted).containsExactly("d");
	}

	@Test
	void unusedPermitIsGrantedToTheNext() {
		this.a.acquire();
		this.b.acquire();
		this.c.acquire();
		this.d.acquire();
		this.a.release();
		this.c.release();

		assertThat(this.granted).containsExactly("c", "d");
	}

	@Test
	void releasingTwiceGrantsOnce() {
		this.a.acquire();
		this.b.acquire();
		this.a.release();
		this.a.release();

		assertThat(this.c.acquire()).isTrue();
		assertThat(this.d.acquire()).isFalse();
		assertThat(this.granted).isEmpty();
	}

	private AcquisitionPermits.Permit permit(String name) {
		return this.permits.permit(() -> this.granted.add(name));
	}

}
